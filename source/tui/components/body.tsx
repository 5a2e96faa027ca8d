import type {ComponentProps, ReactElement} from 'react';
import {Box} from 'ink';
import {layoutOf, queueWidthOf, roomOf} from '../layout.js';
import type {PanelName} from '../state/panels/state.js';
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

const contentOf = (name: PanelName, state: State): PanelContent => panelOf(name, state, roomOf(state, name));

type FramedProperties = Properties &
	Pick<ComponentProps<typeof Panel>, 'width' | 'rows' | 'corners' | 'bottomCorners' | 'joint' | 'hasBottom'> & {
		readonly name: PanelName;
		/** Whose lower edge its upper one is. */
		readonly above?: PanelName;
		/** Whose right side its left one is. */
		readonly beside?: readonly PanelName[];
	};

function FramedPanel({state, name, above, beside = [], ...place}: FramedProperties): ReactElement {
	const {title, end, lines, isFocused} = contentOf(name, state);
	return (
		<Panel
			{...place}
			title={title}
			end={end}
			lines={lines}
			tone={isFocused ? 'focus' : 'frame'}
			edgeTone={isFocused || above === state.panels.focus ? 'focus' : 'frame'}
			// The side that two panels have in common belongs to the one that the keys speak to.
			hasLeft={beside.length === 0 || isFocused}
			theme={themeOf(state.settings)}
			glyphs={glyphsOf(state)}
		/>
	);
}

/** Queue above the graphs of all GPUs and the events, beside the detail above all processes, as far as these are there: all have their sides in common. */
function ColumnsBody({state}: Properties): ReactElement {
	const {isWide, detailRows, queueRows, eventRows, processRows, loads} = layoutOf(state);
	const left = {state, width: queueWidthOf(state.size.columns, isWide)} as const;
	const hasProcesses = processRows > 0;
	const right = {state, width: state.size.columns - left.width + 1, beside: ['queue', 'events']} as const;
	const loadRows = loads === undefined ? 0 : loads.rows + 1;
	/** Edges of both sides that meet, by the lines above them. */
	const isLevel = (rows: number): boolean => rows === detailRows;
	return (
		<Box>
			<Box flexDirection="column">
				<FramedPanel {...left} name="queue" rows={queueRows} above="table" corners={['leftJoint', 'downJoint']} />
				{loads !== undefined && (
					<Panel
						width={left.width}
						rows={loads.rows}
						title={loadsTitle(state)}
						lines={loadsLines(state, loads)}
						edgeTone={state.panels.focus === 'queue' ? 'focus' : 'frame'}
						corners={['leftJoint', isLevel(queueRows) ? 'cross' : 'rightJoint']}
						theme={themeOf(state.settings)}
						glyphs={glyphsOf(state)}
					/>
				)}
				<FramedPanel
					{...left}
					hasBottom
					name="events"
					rows={eventRows}
					above={loads === undefined ? 'queue' : undefined}
					corners={['leftJoint', isLevel(queueRows + loadRows) ? 'cross' : 'rightJoint']}
					bottomCorners={['bottomLeft', 'upJoint']}
				/>
			</Box>
			<Box flexDirection="column" marginLeft={-1}>
				<FramedPanel
					{...right}
					name="detail"
					rows={detailRows}
					above="table"
					corners={['downJoint', 'rightJoint']}
					bottomCorners={['upJoint', 'bottomRight']}
					hasBottom={!hasProcesses}
				/>
				{hasProcesses && (
					<FramedPanel
						{...right}
						hasBottom
						name="processes"
						rows={processRows}
						above="detail"
						corners={[isLevel(queueRows) || isLevel(queueRows + loadRows) ? 'cross' : 'leftJoint', 'rightJoint']}
						bottomCorners={['upJoint', 'bottomRight']}
					/>
				)}
			</Box>
		</Box>
	);
}

/** The queue beside the detail, and the events below both where there is room for them. */
function LowerBody({state}: Properties): ReactElement {
	const {detailRows, queueRows, eventRows} = layoutOf(state);
	const {columns} = state.size;
	const queueWidth = queueWidthOf(columns, false);
	const hasBottom = eventRows === 0;
	const toneBelow = (name: PanelName): FrameTone =>
		state.panels.focus === name || state.panels.focus === 'events' ? 'focus' : 'frame';
	return (
		<>
			<Box>
				<FramedPanel
					state={state}
					name="queue"
					width={queueWidth}
					rows={queueRows}
					above="table"
					corners={['leftJoint', 'downJoint']}
					bottomCorners={['bottomLeft', 'upJoint']}
					hasBottom={hasBottom}
				/>
				<Box marginLeft={-1}>
					<FramedPanel
						state={state}
						name="detail"
						width={columns - queueWidth + 1}
						rows={detailRows}
						above="table"
						beside={['queue']}
						corners={['downJoint', 'rightJoint']}
						bottomCorners={['upJoint', 'bottomRight']}
						hasBottom={hasBottom}
					/>
				</Box>
			</Box>
			{!hasBottom && (
				<FramedPanel
					hasBottom
					state={state}
					name="events"
					width={columns}
					rows={eventRows}
					corners={['leftJoint', 'rightJoint']}
					joint={{at: queueWidth - 1, left: toneBelow('queue'), right: toneBelow('detail')}}
				/>
			)}
		</>
	);
}

/** The table above the others, as far as there is room for them. */
function FramedBody({state}: Properties): ReactElement {
	const {tableRows, detailRows, queueRows, eventRows, processRows, hasColumns, below} = layoutOf(state);
	const hasEvents = below !== undefined && eventRows > 0;
	const {columns} = state.size;
	const hasMore = below !== undefined || detailRows > 0;
	return (
		<>
			<FramedPanel state={state} name="table" width={columns} rows={tableRows + 1} hasBottom={!hasMore} />
			{below !== undefined && (
				<FramedPanel
					hasBottom={!hasEvents}
					state={state}
					name={below}
					width={columns}
					rows={below === 'queue' ? queueRows : processRows}
					above="table"
					corners={['leftJoint', 'rightJoint']}
				/>
			)}
			{hasEvents && (
				<FramedPanel
					hasBottom
					state={state}
					name="events"
					width={columns}
					rows={eventRows}
					above={below}
					corners={['leftJoint', 'rightJoint']}
				/>
			)}
			{below === undefined && hasMore && (hasColumns ? <ColumnsBody state={state} /> : <LowerBody state={state} />)}
		</>
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
	const {tableRows, detailRows, queueRows, eventRows, processRows, below: single} = layoutOf(state);
	const {columns} = state.size;
	const glyphs = glyphsOf(state);
	const {ellipsis} = glyphs;
	const table = contentOf('table', state);
	const names = single === undefined ? (['detail', 'queue', 'events'] as const) : ([single, 'events'] as const);
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
