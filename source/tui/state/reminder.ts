/** The monitor's own word on a reservation that ends soon: shown when somebody, this monitor or another, has taken over the reminding. */
import {holdingsIn} from '../../core/rules/leases/holdings.js';
import {owns} from '../../core/rules/leases/ownership.js';
import type {Requester, Snapshot} from '../../core/model/types.js';
import {shortDuration} from '../../format/text/durations.js';
import {gpuList} from '../../format/text/gpu-list.js';
import type {Flash} from './messages.js';

/** GPUs of this account by the end that was reminded of. */
const remindedIn = ({gpus}: Snapshot, requester: Requester): ReadonlyMap<number, number> =>
	new Map(
		holdingsIn(gpus)
			.filter(({lease}) => owns(requester, lease) && lease.remindedOf !== undefined)
			.filter(({lease}) => lease.remindedOf === lease.expiryTime)
			.map(({index, lease}) => [index, lease.remindedOf!]),
	);

/** Undefined when there is nothing new to say. */
export function reminderFlash(before: Snapshot | undefined, now: Snapshot, requester: Requester): Flash | undefined {
	const known = before === undefined ? undefined : remindedIn(before, requester);
	const fresh = [...remindedIn(now, requester)].filter(([index, end]) => known?.get(index) !== end);
	if (fresh.length === 0) {
		return undefined;
	}

	const gpus = fresh.map(([index]) => index);
	const left = Math.min(...fresh.map(([, end]) => end)) - now.now;
	return {
		level: 'warning',
		text: `your reservation of ${gpuList(gpus)} ends in ${shortDuration(left)}`,
		next: `canhazgpu extend --gpu-ids ${gpus.join(',')} --duration 1h`,
	};
}
