import type {ReactElement} from 'react';
import {Box} from 'ink';
import {layoutOf, queueWidthOf, roomOf} from '../layout.js';
import type {PanelName} from '../state/panels/state.js';
import type {State} from '../state/state.js';
import {selectedRow} from '../state/table/rows.js';
import {isFiltered} from '../state/table/state.js';
import {themeOf} from '../theme.js';
import {panelOf} from '../panels/contents.js';
import {detailTitle} from '../panels/detail.js';
import {glyphsOf} from '../widgets/glyphs.js';
import {Lines} from '../widgets/line.js';
import {Panel} from '../widgets/panel.js';
import {block, rule, type Corners, type PanelContent} from '../widgets/panel-frames.js';
import type {Line} from '../widgets/styled-text.js';

type Properties = {readonly state: State};

const contentOf = (name: PanelName, state: State): PanelContent => panelOf(name, state, roomOf(state, name));

type FramedProperties = Properties & {
	readonly name: PanelName;
	readonly width: number;
	readonly rows: number;
	readonly corners?: Corners;
	readonly hasBottom?: boolean;
};

function FramedPanel({state, name, ...place}: FramedProperties): ReactElement {
	const {title, end, lines, isFocused} = contentOf(name, state);
	return (
		<Panel
			{...place}
			title={title}
			end={end}
			lines={lines}
			tone={isFocused ? 'focus' : 'frame'}
			theme={themeOf(state.settings)}
			glyphs={glyphsOf(state)}
		/>
	);
}

/** The table above, the queue beside the detail, and the events below, as far as there is room for them. */
function FramedBody({state}: Properties): ReactElement {
	const {tableRows, detailRows, queueRows, eventRows, processRows, isWide, below} = layoutOf(state);
	const {columns} = state.size;
	const queueWidth = queueWidthOf(columns, isWide);
	const table = {state, name: 'table', width: columns, rows: tableRows + 1} as const;
	const queue = {state, name: 'queue', width: queueWidth, rows: queueRows, corners: 'left joined'} as const;
	const detail = {
		state,
		name: 'detail',
		width: columns - queueWidth,
		rows: detailRows,
		corners: 'right joined',
	} as const;
	if (below !== undefined) {
		const rows = below === 'queue' ? queueRows : processRows;
		return (
			<>
				<FramedPanel {...table} />
				<FramedPanel hasBottom state={state} name={below} width={columns} rows={rows} corners="both joined" />
			</>
		);
	}

	if (isWide) {
		const events = {state, name: 'events', width: queueWidth, rows: eventRows, corners: 'both joined'} as const;
		const processes = {...events, name: 'processes', width: columns - queueWidth, rows: processRows} as const;
		return (
			<>
				<FramedPanel {...table} />
				<Box>
					<Box flexDirection="column">
						<FramedPanel {...queue} />
						<FramedPanel {...events} hasBottom />
					</Box>
					<Box flexDirection="column">
						<FramedPanel {...detail} />
						<FramedPanel {...processes} hasBottom />
					</Box>
				</Box>
			</>
		);
	}

	return (
		<>
			<FramedPanel {...table} hasBottom={detailRows === 0} />
			{detailRows > 0 && (
				<Box>
					<FramedPanel {...queue} hasBottom />
					<FramedPanel {...detail} hasBottom />
				</Box>
			)}
			{eventRows > 0 && <FramedPanel hasBottom state={state} name="events" width={columns} rows={eventRows} />}
		</>
	);
}

/** Nothing about the table's order or choice of rows needs to be told. */
const isPlain = ({table, view}: State): boolean =>
	view.preset === 'default' &&
	table.sort.by === 'gpu' &&
	!table.sort.isInverted &&
	!isFiltered(table.filter) &&
	table.tags.size === 0;

/** Where there is no room for frames: the panels one below another, with rules between them. */
function ruledLines(state: State): readonly Line[] {
	const {tableRows, detailRows, queueRows, eventRows, processRows, below: single} = layoutOf(state);
	const {columns} = state.size;
	const glyphs = glyphsOf(state);
	const {ellipsis} = glyphs;
	const table = contentOf('table', state);
	const names = single === undefined ? (['detail', 'queue', 'events'] as const) : [single];
	const below = names.flatMap((name): readonly Line[] => {
		const rows = {detail: detailRows, queue: queueRows, events: eventRows, processes: processRows}[name];
		const {title, end, lines} = contentOf(name, state);
		// The detail's rule is always there: with no room below it, it says the most important itself.
		return name === 'detail' && rows < 2
			? [rule(columns, glyphs, detailTitle(selectedRow(state), state)), ...block(lines, rows, columns, ellipsis)]
			: rows === 0
				? []
				: [rule(columns, glyphs, title, end), ...block(lines, rows, columns, ellipsis)];
	});
	return [
		rule(columns, glyphs, isPlain(state) ? [] : table.title, table.end),
		...block(table.lines, tableRows + 1, columns, ellipsis),
		...below,
		// Where nothing stands below it, one rule is enough.
		...(below.length > 1 ? [rule(columns, glyphs)] : []),
	];
}

/** One panel between two rules. */
function ruledAlone(state: State, name: PanelName, rows: number): readonly Line[] {
	const {columns} = state.size;
	const glyphs = glyphsOf(state);
	const {title, end, lines} = contentOf(name, state);
	return [rule(columns, glyphs, title, end), ...block(lines, rows, columns, glyphs.ellipsis), rule(columns, glyphs)];
}

/** The panels between the summary and the message, in frames where there is room for them, else between rules. */
export function Body({state}: Properties): ReactElement {
	const {alone, isFramed, bodyRows} = layoutOf(state);
	const rows = bodyRows - 2;
	if (!isFramed) {
		const lines = alone === undefined ? ruledLines(state) : ruledAlone(state, alone, rows);
		return <Lines lines={lines} theme={themeOf(state.settings)} />;
	}

	return alone === undefined ? (
		<FramedBody state={state} />
	) : (
		<FramedPanel hasBottom state={state} name={alone} width={state.size.columns} rows={rows} />
	);
}
