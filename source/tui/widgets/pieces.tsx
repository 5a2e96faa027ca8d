import type {ReactElement, ReactNode} from 'react';
import {Box} from 'ink';

export const Pieces = ({children}: {readonly children: ReactNode}): ReactElement => (
	<Box gap={2} height={1} flexShrink={0}>
		{children}
	</Box>
);
