import type {InstanceNeed} from '../../../core/model/mig.js';
import type {QueueEntry} from '../../../core/model/types.js';
import {instanceText} from '../../../core/rules/mig/instances.js';
import {wantedOf} from '../../../core/rules/queue/eligible.js';
import type {QueueRow} from '../../../core/rules/queue/queue-rows.js';
import {memoryText, sizeText} from '../../../core/rules/request/memory-size.js';
import {limitText} from '../../../format/queue/over-limit.js';
import {partsOutText} from '../../../format/queue/waiting-progress.js';
import {blockersText, endsWithJobs, outageText} from '../../../format/queue/why.js';
import {shortDuration} from '../../../format/text/durations.js';
import {gpuList} from '../../../format/text/gpu-list.js';
import {counted} from '../../../format/text/numbers.js';
import {sanitize} from '../../../format/text/text.js';
import {clockText} from '../../state/clock.js';
import {storeNow, type State} from '../../state/state.js';

/** Returns how many of the requested GPUs an entry already holds, such as `1/2`. */
export const gotText = ({held}: QueueRow, entry: QueueEntry): string => `${held.length}/${wantedOf(entry).count}`;

/** Returns a request for MIG instances as text, such as `2 MIG 1g.10gb` or `MIG 0:1,2:0`. */
const instancesText = (mig: InstanceNeed, count: number): string =>
	'instances' in mig
		? `MIG ${mig.instances.map((instance) => instanceText(instance)).join(',')}`
		: `${count} MIG ${sanitize(mig.profile)}`;

/** Returns a request as text: `GPUs 0-3,5` for given GPUs, `2 GPUs 40G+ h100` for requirements, `1 GPU 8G share` for a share. */
export const wantText = ({requestedIds, requestedCount, need = {}}: QueueEntry): string =>
	[
		need.mig === undefined
			? requestedIds.length > 0
				? gpuList(requestedIds)
				: counted(requestedCount, 'GPU')
			: instancesText(need.mig, requestedCount),
		...(need.shareMiB === undefined ? [] : [`${sizeText(need.shareMiB)} share`]),
		...(need.models === undefined ? [] : [sanitize(need.models.join('|'))]),
		...(need.minMemoryMiB === undefined ? [] : [`${memoryText(need.minMemoryMiB)}+`]),
		...(need.minCompute === undefined ? [] : [`cc${sanitize(need.minCompute)}+`]),
		...(need.nvlink === true ? ['NVLink'] : []),
	].join(' ');

/** Returns when the request is expected to be served: at a time, or when a job ends. */
export function estimateText(row: QueueRow): string {
	const {estimateSeconds, isPossible, isUnknown, outages, blockers} = row;
	if (!isPossible) {
		return 'never';
	}

	if (isUnknown) {
		return 'unknown';
	}

	if (limitText(row) !== undefined) {
		return 'at limit';
	}

	const [outage] = outages;
	if (outage !== undefined) {
		return {
			drained: 'drained',
			unreadable: 'broken',
			broken: 'broken',
			used: 'in use',
			unknown: 'unknown',
			mode: 'unknown',
		}[outage.kind];
	}

	if (estimateSeconds === undefined) {
		return blockers.length === 0 || endsWithJobs(blockers) ? 'on-exit' : 'unknown';
	}

	return estimateSeconds < 1 ? 'now' : `~${shortDuration(estimateSeconds)}`;
}

/** Returns the reservations that an entry waits for, such as `bob on GPU 3 until 14:44`. Empty if there are none. */
export const blockersOf = ({blockers}: QueueRow, state: State): string =>
	blockersText(blockers, storeNow(state) ?? 0, (seconds) => clockText(seconds, state));

/** Returns what an entry waits for. If it is no reservation, returns a reason such as `GPU 3: used by zoe without a reservation`. */
export function blockedByText(row: QueueRow, state: State): string {
	const limit = limitText(row);
	if (limit !== undefined) {
		return limit;
	}

	const blocked = blockersOf(row, state);
	const [outage] = row.outages;
	return blocked === '' && outage !== undefined
		? `${partsOutText(row.outages, gpuList)}: ${outageText(outage)}`
		: blocked;
}

/** Returns why the entry at this position of the queue cannot be served. */
export function entryProblem({position}: QueueRow, {snapshot}: Pick<State, 'snapshot'>): string {
	const record = snapshot?.queue[position - 1];
	return record?.kind === 'garbage' ? sanitize(record.problem) : 'its entry is gone';
}
