/** The panel about the selected GPU. Shows everything that the table does not show. */
import type {ReactElement} from 'react';
import {Box} from 'ink';
import type {StatusRow} from '../../../core/rules/pool/status.js';
import {byMemory, gibibytes, processText} from '../../../format/readings.js';
import {gpuRanges} from '../../../format/text/gpu-list.js';
import {sanitize} from '../../../format/text/text.js';
import {graphRowsOf} from '../../layout.js';
import {waitingOf} from '../../state/queue/rows.js';
import type {State} from '../../state/state.js';
import {drawnSelectedRow, selectedGpus} from '../../state/gpus/rows.js';
import {useMonitor} from '../../state/use-monitor.js';
import {useDrawing} from '../../themes/drawing-context.js';
import {Label} from '../../widgets/label.js';
import {PanelFrame, useInnerWidth, useScroll, type PanelProperties} from '../shared/panel-frame.js';
import {areProcessesHidden, hasIdleWords, IdleWords, noteText, placeText} from '../shared/row-words.js';
import {Drain, factsText, Instance, Waiters, waitersOf} from './facts.js';
import {DetailGraphs} from './graphs.js';
import {Holding, HoldingWords, Note, Share} from './holding.js';
import {ProcessHead, ProcessLine, usePlacedProcesses} from './process-list.js';

function useLines(row: StatusRow, width: number, hasHead: boolean): readonly ReactElement[] {
	const waiters = waitersOf(useMonitor(waitingOf), row.index);
	const driverVersion = useMonitor(({observation}) => observation?.driverVersion);
	const processes = usePlacedProcesses(row);
	const {frame} = useDrawing();
	const {index, health, drain, shares = [], squatters, reading} = row;
	const {migInstances = [], isMigEnabled, throttleReasons = []} = reading ?? {};
	const place = placeText(row);
	const facts = factsText(reading, driverVersion);
	const quiet = [
		place === undefined ? undefined : `${place}; its processes cannot be read from here`,
		areProcessesHidden(row) ? 'the GPU tool reports no processes here: some may be hidden' : undefined,
		isMigEnabled === true && migInstances.length === 0 ? 'MIG is on, but there are no instances' : undefined,
	].filter((words) => words !== undefined);
	return [
		<Holding key="holding" row={row} />,
		hasIdleWords(row) ? <IdleWords key="idle" row={row} /> : undefined,
		noteText(row) === '' ? undefined : <Note key="note" {...row} />,
		...(frame === 'ruled' ? [] : shares.map((share, at) => <Share key={`share ${at}`} share={share} index={index} />)),
		...health.map(({words}, at) => (
			<Label key={`health ${at}`} tone="error">
				{sanitize(words)}
			</Label>
		)),
		drain && <Drain key="drain" row={row} />,
		waiters.length === 0 ? undefined : <Waiters key="waiters" names={waiters} width={width} />,
		hasHead && processes.length > 0 ? <ProcessHead key="head" width={width} /> : undefined,
		...processes.map(({process, depth}, at) => (
			<ProcessLine
				key={`process ${at}`}
				process={process}
				depth={depth}
				isSquatter={squatters.includes(process)}
				width={width}
			/>
		)),
		...quiet.map((words) => (
			<Label key={words} tone="dim">
				{words}
			</Label>
		)),
		...migInstances.map((instance, at) => <Instance key={`mig ${at}`} gpu={index} instance={instance} />),
		throttleReasons.length === 0 ? undefined : (
			<Label key="throttle" tone="warning">
				slowed down: {sanitize(throttleReasons.join(', '))}
			</Label>
		),
		facts === undefined ? undefined : (
			<Label key="facts" tone="dim">
				{facts}
			</Label>
		),
	].filter((line) => line !== undefined);
}

function amongText(index: number, state: State): string {
	const gpus = selectedGpus(state);
	return gpus.length > 1 ? `GPU ${index} of ${gpuRanges(gpus)}` : `GPU ${index}`;
}

/** Shows the most important fact in the title of a very low panel: the largest process, or else when the idle GPU goes back, or else the holder. */
function BriefWords({row}: {readonly row: StatusRow}): ReactElement {
	const [first] = byMemory(row.processes);
	if (first === undefined) {
		return <Box gap={2}>{row.warning === undefined ? <HoldingWords row={row} /> : <IdleWords row={row} />}</Box>;
	}

	const memory = first.memoryUsedMiB === undefined ? '' : gibibytes(first.memoryUsedMiB);
	return <Label>{[first.pid, sanitize(first.user ?? '?'), memory, processText(first)].join(' ')}</Label>;
}

function SelectedGpu({row, width, rows}: PanelProperties & {readonly row: StatusRow}): ReactElement {
	const about = useMonitor((state) => amongText(row.index, state));
	const {frame} = useDrawing();
	// Each line begins with a blank, which is not part of this width.
	const innerWidth = useInnerWidth(width) - 1;
	const lines = useLines(row, innerWidth, rows > 4);
	const most = rows - graphRowsOf(rows);
	// The graphs get the lines that the text does not need.
	const shown = Math.min(most, lines.length);
	const hasGraphs = most < rows;
	const {first, to, range} = useScroll('detail', lines.length, shown);
	const model = sanitize(row.reading?.name ?? '');
	return (
		<PanelFrame
			name="detail"
			about={about}
			beside={frame === 'ruled' && rows < 2 ? <BriefWords row={row} /> : <Label>{model}</Label>}
			end={range}
			width={width}
			rows={rows}
		>
			<Box flexDirection="column" paddingLeft={1}>
				<Box flexDirection="column" height={shown} flexShrink={0} overflowY="hidden">
					{lines.slice(first, to)}
				</Box>
				{hasGraphs && frame !== 'plain' ? (
					<DetailGraphs row={row} rows={rows - shown} width={innerWidth + 1} />
				) : undefined}
			</Box>
		</PanelFrame>
	);
}

export function DetailPanel({width, rows}: PanelProperties): ReactElement {
	const row = useMonitor(drawnSelectedRow);
	return row === undefined ? (
		<PanelFrame name="detail" width={width} rows={rows}>
			<Label tone="dim"> no GPU is shown</Label>
		</PanelFrame>
	) : (
		<SelectedGpu row={row} width={width} rows={rows} />
	);
}
