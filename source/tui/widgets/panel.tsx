import type {ReactElement, ReactNode, Ref} from 'react';
import {Box, type DOMElement} from 'ink';
import {useDrawing} from '../themes/drawing-context.js';
import {useStyle} from '../themes/theme-context.js';
import {Label} from './label.js';
import {opaque} from './opaque.js';

type Properties = {
	readonly title: ReactNode;
	/** A text at the right end of the upper border, such as `1-24 of 64`. */
	readonly end?: string;
	/** Width in terminal columns, including the borders. */
	readonly width: number;
	/** Lines inside the panel. */
	readonly rows: number;
	readonly isFocused?: boolean;
	readonly ref?: Ref<DOMElement>;
	readonly children?: ReactNode;
};

/** A part of the screen with a title in its border. Content that does not fit is cut off. */
export function Panel({title, end = '', width, rows, isFocused = false, ref, children}: Properties): ReactElement {
	const {frame} = useDrawing();
	const {color, dimColor} = useStyle(isFocused ? 'focus' : 'frame');
	if (frame === 'plain') {
		return (
			<Box flexDirection="column">
				{title}
				{children}
			</Box>
		);
	}

	const isBoxed = frame === 'boxed';
	// Subtracts the border, and a blank on both sides of each text.
	const titleWidth = width - 4 - (end === '' ? 0 : end.length + 4);
	return (
		<Box
			ref={ref}
			flexDirection="column"
			flexShrink={0}
			width={width}
			height={rows + (isBoxed ? 2 : 1)}
			borderStyle="round"
			borderBottom={isBoxed}
			borderLeft={isBoxed}
			borderRight={isBoxed}
			borderColor={color}
			borderDimColor={dimColor}
		>
			<Box
				position="absolute"
				top={-1}
				left={isBoxed ? 1 : 2}
				maxWidth={titleWidth}
				paddingX={1}
				backgroundColor={opaque}
			>
				{title}
			</Box>
			{end === '' ? undefined : (
				<Box position="absolute" top={-1} right={isBoxed ? 1 : 2}>
					<Label> {end} </Label>
				</Box>
			)}
			<Box flexDirection="column" height={rows} overflowY="hidden">
				<Box flexDirection="column" flexShrink={0}>
					{children}
				</Box>
			</Box>
		</Box>
	);
}
