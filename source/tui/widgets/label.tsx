import {createContext, use, type ReactElement, type ReactNode} from 'react';
import {Box, Text} from 'ink';
import {useStyle} from '../themes/theme-context.js';
import type {Tone} from '../themes/tones.js';

/** Changes the look of all text inside an element, such as a row of a table. */
export type Emphasis =
	| 'normal'
	/** For a selected row. Plain text is bold. */
	| 'selected'
	/** For text that repeats the row above. Plain text is faint. */
	| 'repeated'
	/** For outdated values. All text is faint. */
	| 'old';

export const EmphasisContext = createContext<Emphasis>('normal');

const emphasized: Readonly<Record<Emphasis, (tone: Tone) => Tone>> = {
	normal: (tone) => tone,
	selected: (tone) => (tone === 'plain' ? 'strong' : tone),
	repeated: (tone) => (tone === 'plain' || tone === 'others' ? 'dim' : tone),
	old: (tone) => (tone === 'marked' ? tone : 'dim'),
};

type Properties = {
	readonly tone?: Tone;
	/** With `wrap`, text that is too long continues on the next line. Otherwise it is cut off. */
	readonly wrap?: 'truncate-end' | 'truncate-middle' | 'wrap';
	readonly children?: ReactNode;
};

/** Shows text in a tone of the theme. By default, text that is too long ends in an ellipsis. Labels can be nested. */
export function Label({tone = 'plain', wrap = 'truncate-end', children}: Properties): ReactElement {
	const style = useStyle(emphasized[use(EmphasisContext)](tone));
	return (
		<Text wrap={wrap} {...style}>
			{children}
		</Text>
	);
}

/** Shows text that is not shortened when other parts of the line need room. With `width`, the text fills a column. */
export const FixedLabel = ({width, ...label}: Properties & {readonly width?: number}): ReactElement => (
	<Box width={width} flexShrink={0}>
		<Label {...label} />
	</Box>
);
