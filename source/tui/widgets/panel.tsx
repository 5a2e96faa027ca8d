import type {ReactElement} from 'react';
import {Box} from 'ink';
import {styleOf, type Theme} from '../theme.js';
import type {Glyphs} from './drawing.js';
import {Lines} from './line.js';
import {block, edge, type Corners, type FrameTone, type Joint} from './panel-frames.js';
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
	/** Its upper edge is the lower one of the panel above, too. */
	readonly edgeTone?: FrameTone;
	/** What stands at both ends of its upper edge, and of its lower one. */
	readonly corners?: Corners;
	readonly joint?: Joint;
	readonly bottomCorners?: Corners;
	/** Without, the top of the panel below is its bottom. */
	readonly hasBottom: boolean;
	/** Without, the right side of the panel beside it is drawn there. */
	readonly hasLeft?: boolean;
	/** Where it stands in what surrounds it. */
	readonly top: number;
	readonly left: number;
	readonly theme: Theme;
	readonly glyphs: Glyphs;
};

const borderOf = (glyphs: Glyphs, [left, right]: Corners) => ({
	topLeft: glyphs.topLeft,
	topRight: glyphs.topRight,
	bottomLeft: glyphs[left],
	bottomRight: glyphs[right],
	top: glyphs.horizontal,
	bottom: glyphs.horizontal,
	left: glyphs.vertical,
	right: glyphs.vertical,
});

/** Lines in a frame with a title in its upper edge, which Ink's own borders do not have. */
export function Panel({
	title,
	end,
	lines,
	width,
	rows,
	tone = 'frame',
	edgeTone = tone,
	corners,
	joint,
	bottomCorners = ['bottomLeft', 'bottomRight'],
	hasBottom,
	hasLeft = true,
	top,
	left,
	theme,
	glyphs,
}: Properties): ReactElement {
	const {color, dimColor} = styleOf(tone, theme);
	const besideColumns = hasLeft ? 0 : 1;
	return (
		<Box
			position="absolute"
			flexDirection="column"
			top={top}
			left={left}
			width={width}
			height={rows + (hasBottom ? 2 : 1)}
		>
			<Lines lines={[edge(width, glyphs, {title, end, corners, tone: edgeTone, joint})]} theme={theme} />
			<Box
				flexDirection="column"
				marginLeft={besideColumns}
				width={width - besideColumns}
				height={rows + (hasBottom ? 1 : 0)}
				borderStyle={borderOf(glyphs, bottomCorners)}
				borderTop={false}
				borderBottom={hasBottom}
				borderLeft={hasLeft}
				borderColor={color}
				borderDimColor={dimColor}
			>
				<Lines lines={block(lines, rows, width - 2, glyphs.ellipsis)} theme={theme} />
			</Box>
		</Box>
	);
}
