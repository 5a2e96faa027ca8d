/** The panel with graphs of all GPUs on a wide screen. Each GPU has a tile with its holder, its load and the graphs. */
import {memo, type ReactElement} from 'react';
import {Box} from 'ink';
import type {StatusRow} from '../../core/rules/pool/status.js';
import {gibibytes} from '../../format/readings.js';
import {layoutOf, loadsRangeOf} from '../layout.js';
import {useMouse} from '../mouse/mouse-context.js';
import {ownRange} from '../state/panels/state.js';
import {gpuCountOf} from '../state/state.js';
import {membersOf} from '../state/gpus/fold.js';
import {drawnRows, selectedGpu, visibleRows} from '../state/gpus/rows.js';
import {useDispatch, useMonitor, useStore} from '../state/use-monitor.js';
import {useDrawing} from '../themes/drawing-context.js';
import {loadTone} from '../themes/tones.js';
import {Curve, graphStyleOf, valuesWithin} from '../widgets/graph.js';
import {FixedLabel, Label} from '../widgets/label.js';
import {Panel} from '../widgets/panel.js';
import {spanText, useShownValues} from './shared/past-values.js';
import {useInnerWidth, type PanelProperties} from './shared/panel-frame.js';
import {Utilization} from './shared/readings.js';
import {OwnerName, StateWord, useIsScanned} from './shared/row-words.js';

/** Number of blanks between two tiles, and between the two graphs of a tile. */
const gap = 2;

/** Minimum width of a tile for a second graph, which shows the memory. */
const leastForMemory = 36;

/** Shows the current load, in the colors of the graphs below. */
function Numbers({row: {reading}}: {readonly row: StatusRow}): ReactElement {
	const {utilizationPercent, memoryUsedMiB, memoryTotalMiB} = reading ?? {};
	return (
		<Box gap={1} flexShrink={0}>
			<Utilization percent={utilizationPercent} width={0} />
			{memoryUsedMiB === undefined ? undefined : (
				<Label tone={memoryTotalMiB === undefined ? 'plain' : loadTone('memory', memoryUsedMiB / memoryTotalMiB)}>
					{gibibytes(memoryUsedMiB).padStart(4)}
				</Label>
			)}
		</Box>
	);
}

function Holder({row}: {readonly row: StatusRow}): ReactElement {
	const isNobodys = row.owner === undefined && row.shares === undefined && row.state !== 'unreserved';
	return isNobodys ? <StateWord row={row} /> : <OwnerName row={row} />;
}

type TileProperties = {readonly row: StatusRow; readonly width: number; readonly rows: number};

/** Shows a tile: a line such as `> 0 alice           84%  60G`, with graphs below. A click selects the GPU. */
function UncachedTile({row, width, rows}: TileProperties): ReactElement {
	const dispatch = useDispatch();
	const {getState} = useStore();
	const isSelected = useMonitor((state) => selectedGpu(state) === row.index);
	const isScanned = useIsScanned();
	const indexWidth = useMonitor((state) => String(gpuCountOf(state) - 1).length);
	const style = graphStyleOf(useDrawing());
	const ref = useMouse({
		onClick() {
			const index = visibleRows(getState()).findIndex((shown) =>
				membersOf(shown).some((gpu) => gpu.index === row.index),
			);
			if (index !== -1) {
				dispatch({kind: 'pointed', at: {on: 'row', panel: 'gpus', index}});
			}

			return true;
		},
	});
	const isHalved = width >= leastForMemory;
	const columns = isHalved ? Math.floor((width - gap) / 2) : width;
	const shown = {range: useMonitor(loadsRangeOf), count: valuesWithin(columns, style)};
	const utilization = useShownValues(row, 'utilization', shown);
	const memory = useShownValues(row, 'memory', shown);
	return (
		<Box ref={ref} flexDirection="column" width={width} height={rows} flexShrink={0}>
			<Box justifyContent="space-between" gap={1}>
				<Box gap={1}>
					<FixedLabel tone={isSelected ? 'marked' : 'strong'}>
						{isSelected ? '>' : ' '} {String(row.index).padStart(indexWidth)}
					</FixedLabel>
					<Holder row={row} />
				</Box>
				{isScanned ? <Numbers row={row} /> : undefined}
			</Box>
			<Box gap={gap}>
				<Curve of="load" values={utilization} rows={rows - 1} />
				{isHalved ? <Curve of="memory" values={memory} rows={rows - 1} /> : undefined}
			</Box>
		</Box>
	);
}

/** Renders again only if the look of its GPU or its size changes. */
const Tile = memo(UncachedTile);

function Title(): ReactElement {
	const range = useMonitor(loadsRangeOf);
	const span = useMonitor((state) => spanText(state, range));
	const isUnknown = useMonitor(({past}) => past?.kind === 'failed') && range !== ownRange;
	return (
		<Label>
			<Label tone="strong">Loads</Label> last {span}
			{isUnknown ? <Label tone="warning"> unknown</Label> : undefined}
		</Label>
	);
}

export function LoadsPanel({width, rows: height}: PanelProperties): ReactElement {
	const innerWidth = useInnerWidth(width) - 1;
	const rows = useMonitor(drawnRows);
	const columns = useMonitor((state) => layoutOf(state).loads?.columns ?? 1);
	const tileRows = useMonitor((state) => layoutOf(state).loads?.tileRows ?? 0);
	const tileWidth = Math.floor((innerWidth - gap * (columns - 1)) / columns);
	return (
		<Panel title={<Title />} width={width} rows={height}>
			<Box flexWrap="wrap" columnGap={gap} paddingLeft={1} width={innerWidth + 1}>
				{rows.map((row) => (
					<Tile key={row.index} row={row} width={tileWidth} rows={tileRows} />
				))}
			</Box>
		</Panel>
	);
}
