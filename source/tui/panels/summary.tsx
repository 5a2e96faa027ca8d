/** The second of the two lines at the top: free, reserved and failed GPUs, their load, and the queue. */
import type {ReactElement} from 'react';
import type {GpuReading} from '../../core/model/types.js';
import {freeGpus, shownStateOf, type StatusRow} from '../../core/rules/pool/status.js';
import {remembering} from '../state/memo.js';
import {isMine} from '../state/gpus/row-state.js';
import {rowsOf, type State} from '../state/state.js';
import {useMonitor} from '../state/use-monitor.js';
import {memoryLoad, utilizationLoad, type Load} from './shared/header-parts.js';
import {TotalsLine, type LoadChoice} from './shared/totals-line.js';

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

/** Returns the mean or total loads of the GPUs that have readings, from the most to the fewest that a screen shows. On wide screens, the bars are longer. */
function loadChoices(gpus: readonly GpuReading[], columns: number): readonly LoadChoice[] {
	const percents = gpus.flatMap(({utilizationPercent}) => utilizationPercent ?? []);
	const mean = percents.length === 0 ? undefined : sum(percents) / percents.length / 100;
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
	const util = (barWidth: number): Load | undefined => utilizationLoad(mean, barWidth);
	const mem = (barWidth: number): Load | undefined => memoryLoad(used, total, barWidth);
	const power = (barWidth: number): Load | undefined =>
		powers.length === 0
			? undefined
			: {
					word: 'Power',
					of: 'load',
					share: limit > 0 ? watts / limit : undefined,
					text: `${kilowatts(watts)}${limit > 0 ? `/${kilowatts(limit)}` : ''}kW`,
					barWidth,
				};
	const longBar = Math.min(30, 12 + Math.floor((columns - 150) / 4));
	return [
		{least: 150, loads: [util(longBar), mem(longBar), power(longBar)]},
		{least: 110, loads: [util(12), mem(0), power(0)]},
		{least: 100, loads: [util(12), mem(0)]},
		{least: 90, loads: [util(0), mem(0)]},
		{least: 60, loads: [util(0)]},
		{least: 0, loads: []},
	];
}

/** Returns the number of GPUs in each state. Cached, because the states do not depend on the time. */
const countsOf = remembering(
	({snapshot, observation, scanFailure, settings}: State) => [snapshot, observation, scanFailure, settings],
	(state) => {
		const rows = rowsOf(state);
		return {free: freeGpus(rows), counts: countRows(rows, state.settings.requester)};
	},
);

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
	const {columns} = useMonitor(({size}) => size);
	const {free, counts} = useMonitor(countsOf);
	const waiting = useMonitor(({snapshot}) => snapshot?.queue.length ?? 0);
	const observation = useMonitor((state) => state.observation);
	// Small screens get shorter words, and no counts that are zero.
	const always = columns < 50 ? [] : (['mine', 'others', 'unreserved', 'errors'] as const);
	return (
		<TotalsLine
			columns={columns}
			isRoomy={columns >= 75}
			free={free}
			counts={counts}
			isScanned={observation !== undefined}
			always={always}
			loads={loadChoices(observation?.gpus ?? [], columns)}
			waiting={waiting}
		/>
	);
}
