/** The second of the two lines at the top: free, reserved and failed GPUs, their load, and the queue. */
import type {ReactElement} from 'react';
import {freeGpus, shownStateOf, type StatusRow} from '../../core/rules/pool/status.js';
import {isMine} from '../state/gpus/row-state.js';
import {rowsOf, type State} from '../state/state.js';
import {useMonitor, useSettings} from '../state/use-monitor.js';
import {Count, Counts, EdgeLine, TotalLoad, TotalMemory} from './shared/header-parts.js';

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

/** Shows the mean or total load of the GPUs that have readings. On wide screens, the bars are longer. */
function Loads({columns}: {readonly columns: number}): ReactElement {
	const gpus = useMonitor(({observation}) => observation?.gpus) ?? [];
	const percents = gpus.flatMap(({utilizationPercent}) => utilizationPercent ?? []);
	const mean = sum(percents) / percents.length / 100;
	// Excludes GPUs whose total memory is unknown, so that the sum can be compared with the sum of totals.
	const used = sum(
		gpus.flatMap(({memoryUsedMiB = [], memoryTotalMiB = 0}) => (memoryTotalMiB > 0 ? memoryUsedMiB : [])),
	);
	const total = sum(gpus.map(({memoryTotalMiB = 0}) => memoryTotalMiB));
	const powers = gpus.filter(({powerWatts}) => powerWatts !== undefined);
	const watts = sum(powers.map(({powerWatts = 0}) => powerWatts));
	// The sum of the power limits is shown only if the limit of every GPU is known.
	const isLimited = powers.every(({powerLimitWatts}) => powerLimitWatts !== undefined);
	const limit = isLimited ? sum(gpus.map(({powerLimitWatts = 0}) => powerLimitWatts)) : 0;
	const kilowatts = (some: number): string => (some / 1000).toFixed(1);
	const longBar = columns >= 150 ? Math.min(30, 12 + Math.floor((columns - 150) / 4)) : 0;
	return (
		<>
			{percents.length === 0 || columns < 60 ? undefined : (
				<TotalLoad
					word="Util"
					of="load"
					share={mean}
					text={`${Math.round(mean * 100)}%`.padStart(columns < 100 ? 0 : 4)}
					barWidth={columns < 100 ? 0 : Math.max(12, longBar)}
				/>
			)}
			{total === 0 || columns < 90 ? undefined : <TotalMemory usedMiB={used} totalMiB={total} barWidth={longBar} />}
			{powers.length === 0 || columns < 110 ? undefined : (
				<TotalLoad
					word="Power"
					of="load"
					share={limit > 0 ? watts / limit : undefined}
					text={`${kilowatts(watts)}${limit > 0 ? `/${kilowatts(limit)}` : ''}kW`}
					barWidth={longBar}
				/>
			)}
		</>
	);
}

function countRows(rows: readonly StatusRow[], requester: State['settings']['requester']) {
	const count = (isCounted: (row: StatusRow) => boolean): number => rows.filter((row) => isCounted(row)).length;
	const mine = count((row) => isMine(row, requester));
	return {
		mine,
		others: count(({state}) => state === 'in-use') - mine,
		drained: count((row) => shownStateOf(row) === 'drained'),
		unreserved: count(({state}) => state === 'unreserved'),
		errors: count((row) => shownStateOf(row) === 'error'),
	};
}

export function Summary(): ReactElement {
	const {requester} = useSettings();
	const {columns} = useMonitor(({size}) => size);
	const rows = useMonitor(rowsOf);
	const waiting = useMonitor(({snapshot}) => snapshot?.queue.length ?? 0);
	const isScanned = useMonitor(({observation}) => observation !== undefined);
	// Small screens get shorter words, and no counts that are zero.
	const always = columns < 50 ? [] : (['mine', 'others', 'unreserved', 'errors'] as const);
	return (
		<EdgeLine
			left={
				<Counts
					free={freeGpus(rows)}
					counts={countRows(rows, requester)}
					isShort={columns < 75}
					isScanned={isScanned}
					always={always}
				/>
			}
			right={
				<>
					<Loads columns={columns} />
					<Count word="Queue" count={waiting} tone="strong" />
				</>
			}
		/>
	);
}
