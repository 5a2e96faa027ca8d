import type {ReactElement} from 'react';
import {Box} from 'ink';
import {layoutOf} from '../layout.js';
import {headRows, neighboursOf, regionsOf, roomIn, type Region} from '../regions.js';
import type {State} from '../state/state.js';
import {selectedRow, visibleRows} from '../state/table/rows.js';
import {isFiltered} from '../state/table/state.js';
import {themeOf} from '../theme.js';
import {panelOf} from '../panels/contents.js';
import {detailTitle} from '../panels/detail.js';
import {loadsLines, loadsTitle} from '../panels/loads.js';
import {glyphsOf} from '../widgets/drawing.js';
import {Lines} from '../widgets/line.js';
import {Panel} from '../widgets/panel.js';
import {block, rule, type FrameTone, type PanelContent} from '../widgets/panel-frames.js';
import type {Line} from '../widgets/styled-text.js';

type Properties = {readonly state: State};

type FramedProperties = Properties & {readonly region: Region; readonly regions: readonly Region[]};

/** What stands in a region. */
function contentOf(region: Region, state: State): PanelContent {
	const room = roomIn(region);
	return region.panel === 'loads'
		? {title: loadsTitle(state), lines: loadsLines(state, room), isFocused: false}
		: panelOf(region.panel, state, room);
}

/** A panel in its frame, whose upper edge is the lower one of those above. */
function FramedPanel({state, region, regions}: FramedProperties): ReactElement {
	const {width, rows, left} = region;
	const {title, end, lines, isFocused} = contentOf(region, state);
	const {corners, bottomCorners, hasBelow, above} = neighboursOf(region, regions);
	const toneBelow = (other?: Region): FrameTone =>
		isFocused || other?.panel === state.panels.focus ? 'focus' : 'frame';
	const [first, second] = above;
	return (
		<Panel
			top={region.top - headRows}
			left={left}
			width={width}
			rows={rows}
			title={title}
			end={end}
			lines={lines}
			tone={isFocused ? 'focus' : 'frame'}
			edgeTone={toneBelow(first)}
			corners={corners}
			bottomCorners={bottomCorners}
			joint={second && {at: second.left, left: toneBelow(first), right: toneBelow(second)}}
			hasBottom={!hasBelow}
			// The side that two panels have in common belongs to the one that the keys speak to.
			hasLeft={left === 0 || isFocused}
			theme={themeOf(state.settings)}
			glyphs={glyphsOf(state)}
		/>
	);
}

/** Nothing about the table's order or choice of rows needs to be said. */
const isPlain = (state: State): boolean => {
	const {table, view} = state;
	return (
		view.preset === 'default' &&
		table.sort.by === 'gpu' &&
		!table.sort.isInverted &&
		!isFiltered(table.filter) &&
		table.tags.size === 0 &&
		visibleRows(state).every(({members}) => members === undefined)
	);
};

/** Where there is no room for frames: the panels one below another, with rules between them. */
function ruledLines(state: State): readonly Line[] {
	const {columns} = state.size;
	const glyphs = glyphsOf(state);
	const lines = regionsOf(state).flatMap((region): readonly Line[] => {
		const {panel, rows} = region;
		const content = contentOf(region, state);
		const isBrief = panel === 'detail' && rows < 2;
		const title =
			panel === 'table' && layoutOf(state).alone === undefined && isPlain(state)
				? []
				: isBrief
					? // With no room below it, the rule itself says the most important.
						detailTitle(selectedRow(state), state)
					: content.title;
		return [
			rule(columns, glyphs, title, isBrief ? '' : content.end),
			...block(content.lines, rows, columns, glyphs.ellipsis),
		];
	});
	// Where nothing stands below it, one rule is enough.
	return lines.length < layoutOf(state).bodyRows ? [...lines, rule(columns, glyphs)] : lines;
}

/** The panels between the summary and the message, in frames where there is room for them, else between rules. */
export function Body({state}: Properties): ReactElement {
	const {isFramed, bodyRows} = layoutOf(state);
	const regions = regionsOf(state);
	return isFramed ? (
		<Box height={bodyRows}>
			{regions.map((region) => (
				<FramedPanel key={region.panel} state={state} region={region} regions={regions} />
			))}
		</Box>
	) : (
		<Lines lines={ruledLines(state)} theme={themeOf(state.settings)} />
	);
}
