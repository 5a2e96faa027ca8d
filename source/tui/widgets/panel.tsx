import type {ReactElement} from 'react';
import {Box} from 'ink';
import {styleOf, type Theme} from '../theme.js';
import type {Glyphs} from './glyphs.js';
import {Lines} from './line.js';
import {block, edge, type Corners, type FrameTone} from './panel-frames.js';
import type {Line} from './styled-text.js';

type Properties = {
	readonly title: Line;
	/** At the other end of the title. */
	readonly end?: string;
	readonly lines: readonly Line[];
	/** With its sides. */
	readonly width: number;
	/** Lines inside. */
	readonly rows: number;
	readonly tone?: FrameTone;
	/** Where it meets the sides of the panel above. */
	readonly corners?: Corners;
	/** Without, the top of the panel below is its bottom. */
	readonly hasBottom?: boolean;
	readonly theme: Theme;
	readonly glyphs: Glyphs;
};

const borderOf = ({horizontal, vertical, topLeft, topRight, bottomLeft, bottomRight}: Glyphs) => ({
	topLeft,
	topRight,
	bottomLeft,
	bottomRight,
	top: horizontal,
	bottom: horizontal,
	left: vertical,
	right: vertical,
});

/** Lines in a frame with a title in its upper edge, which Ink's own borders do not have. */
export function Panel(properties: Properties): ReactElement {
	const {title, end, lines, width, rows, tone = 'frame', corners, hasBottom = false, theme, glyphs} = properties;
	const {color, dimColor} = styleOf(tone, theme);
	return (
		<Box flexDirection="column" width={width} height={rows + (hasBottom ? 2 : 1)}>
			<Lines lines={[edge(width, glyphs, {title, end, corners, tone})]} theme={theme} />
			<Box
				flexDirection="column"
				width={width}
				height={rows + (hasBottom ? 1 : 0)}
				borderStyle={borderOf(glyphs)}
				borderTop={false}
				borderBottom={hasBottom}
				borderColor={color}
				borderDimColor={dimColor}
			>
				<Lines lines={block(lines, rows, width - 2, glyphs.ellipsis)} theme={theme} />
			</Box>
		</Box>
	);
}
