/** Formats numbers, times and states. An unknown value is shown as a dash, never as zero. */
import {freeAmong, freeText} from '../../format/free-gpus.js';
import type {Gpu} from './fields.js';

export const unknown = '–';

export const shownStates: ReadonlyArray<Gpu['state']> = ['available', 'in-use', 'unreserved', 'drained', 'error'];

const pad = (value: number): string => String(value).padStart(2, '0');

export const joined = (...parts: ReadonlyArray<string | undefined>): string => parts.filter(Boolean).join(' · ');

export function duration(milliseconds: number): string {
	const seconds = Math.max(0, Math.floor(milliseconds / 1000));
	if (seconds < 60) {
		return `${seconds}s`;
	}

	if (seconds < 3600) {
		return `${Math.floor(seconds / 60)}m`;
	}

	return seconds < 86_400
		? `${Math.floor(seconds / 3600)}h ${pad(Math.floor((seconds % 3600) / 60))}m`
		: `${Math.floor(seconds / 86_400)}d ${Math.floor((seconds % 86_400) / 3600)}h`;
}

export const sinceText = (time: string, nowMs: number): string => duration(nowMs - Date.parse(time));

export const untilText = (time: string, nowMs: number): string => duration(Date.parse(time) - nowMs);

export const gibibytes = (mebibytes: number | undefined): string =>
	mebibytes === undefined ? unknown : `${(mebibytes / 1024).toFixed(1)} GiB`;

/** Formats MiB as GiB, such as `8G`, in the form that --share accepts. */
export const sizeText = (mebibytes: number): string => `${Number((mebibytes / 1024).toFixed(1))}G`;

type Share = NonNullable<Gpu['shares']>[number];

/** Returns the size: `8G`, `16/8G!` for a share that uses too much, `0:1 1g.10gb` for a MIG instance. Empty if the size is unknown. */
function shareSize(
	{memory_mb: asked, memory_used_mb: used = 0, is_over: isOver, mig_instance: mig, is_gone: isGone}: Share,
	gpu: number | undefined,
): string {
	if (mig !== undefined) {
		return `${gpu ?? '?'}:${mig.instance ?? '?'} ${mig.profile ?? ''}${isGone ? ' (gone)' : ''}`;
	}

	if (asked === undefined) {
		return '';
	}

	return isOver ? `${sizeText(used).slice(0, -1)}/${sizeText(asked)}!` : sizeText(asked);
}

export const sharePart = (share: Share, gpu: number | undefined): string =>
	[shareSize(share, gpu), share.is_suspended === true ? 'suspended' : ''].filter((part) => part !== '').join(' ');

/** Encloses a name in Unicode isolates, so that a right-to-left name does not move the numbers after it. */
export const isolated = (name: string): string => `\u{2068}${name}\u{2069}`;

export const sharesText = ({gpu_id: gpu, shares = []}: Gpu): string =>
	shares.map((share) => `${isolated(share.user ?? unknown)} ${sharePart(share, gpu)}`.trimEnd()).join(', ');

export const withUnit = (value: number | undefined, unit: string): string =>
	value === undefined ? unknown : `${Math.round(value)}${unit}`;

export const percentOf = (part: number | undefined, whole: number | undefined): number | undefined =>
	part === undefined || whole === undefined || !(whole > 0) ? undefined : (part / whole) * 100;

export const freeIn = (gpus: readonly Gpu[]): string =>
	freeText(freeAmong(gpus.filter(({state}) => state === 'available')));

export const counted = (count: number | undefined, one: string): string =>
	`${count ?? unknown} ${one}${count === 1 ? '' : 's'}`;

const timeForm = {hour: '2-digit', minute: '2-digit', hourCycle: 'h23'} as const;
const dateAndTime = new Intl.DateTimeFormat(undefined, {month: 'short', day: 'numeric', ...timeForm});
const hoursAndMinutes = new Intl.DateTimeFormat(undefined, timeForm);

export const dateText = (time: string | number): string => dateAndTime.format(new Date(time));
export const timeOfDay = (timeMs: number): string => hoursAndMinutes.format(new Date(timeMs));

/** Returns a time of day. Adds the date if the time is at least half a day away. */
export const soonText = (time: string, nowMs: number): string => {
	const timeMs = Date.parse(time);
	return Math.abs(timeMs - nowMs) < 43_200_000 ? timeOfDay(timeMs) : dateText(time);
};

/** Returns whether and when a GPU goes back to the pool, since when it is parked, or until when it is kept. Undefined for other GPUs. */
export function idleText(
	{reclaim_at: reclaimAt, beyond_limit: isBeyond, parked_since: parked, keep_until: keepUntil}: Gpu,
	nowMs: number,
): string | undefined {
	const back =
		reclaimAt === undefined
			? undefined
			: Date.parse(reclaimAt) > nowMs
				? `goes back at ${soonText(reclaimAt, nowMs)}`
				: isBeyond === true
					? 'goes back now'
					: 'goes back when somebody is waiting';
	const words = [
		isBeyond === true ? 'beyond its limit' : undefined,
		back,
		parked === undefined ? undefined : `parked since ${soonText(parked, nowMs)}`,
		back === undefined && keepUntil !== undefined ? `kept until ${soonText(keepUntil, nowMs)}` : undefined,
	].filter((word) => word !== undefined);
	return words.length === 0 ? undefined : words.join(', ');
}

export function timeText(gpu: Gpu, nowMs: number): string {
	const {state, node, held_for_queue: waiter, expiry_time: expiry, ends_by: latest, last_released: released} = gpu;
	const forTime = (start: string | undefined): string => (start === undefined ? '' : `for ${sinceText(start, nowMs)}`);
	if (waiter !== undefined) {
		return 'held for somebody in the queue';
	}

	if (state === 'in-use') {
		// A shared GPU has several reservations, so no single time applies to the GPU.
		const end = expiry ?? latest;
		return joined(
			forTime(gpu.start_time),
			gpu.is_suspended === true ? 'suspended' : '',
			end === undefined ? '' : `${untilText(end, nowMs)} left`,
		);
	}

	if (state === 'available') {
		// For a GPU of a Slurm node, it is not known when the GPU was last used.
		return released === undefined ? (node === undefined ? 'never used' : '') : `free ${forTime(released)}`;
	}

	return state === 'drained' ? forTime(gpu.drain?.since) : '';
}

/** Returns the MIG instances by profile, such as `2x1g.10gb`. */
export const partText = (parts: NonNullable<Gpu['mig_instances']>): string =>
	parts.length === 0
		? 'without instances'
		: [...Map.groupBy(parts, ({profile}) => profile ?? '?')]
				.map(([profile, same]) => (same.length === 1 ? profile : `${same.length}x${profile}`))
				.join(' ');

export type Person = {readonly name: string; readonly account?: string};

export function personOf(user: string): Person {
	const {account, label} = /^(?<account>\S+) \((?<label>.+)\)$/v.exec(user)?.groups ?? {};
	return label === undefined ? {name: user} : {name: label, account};
}

/** Returns the node of a GPU, such as `GPU 0 of box1`. A cluster numbers the GPUs of all its nodes, so the number alone does not show the node. */
export const placeText = ({node, node_gpu_id: index}: Gpu): string | undefined =>
	node === undefined ? undefined : `GPU ${index} of ${node}`;

type Holder = {readonly user: string; readonly actual_user?: string | undefined};

/** Returns the account, and the label if there is one: `account (label)`. */
export const holderName = ({user, actual_user: account}: Holder): string =>
	account === undefined ? user : `${account} (${user})`;

type Noted = {readonly note?: string | undefined; readonly via?: string | undefined};

export const noteWords = ({note, via}: Noted): string | undefined =>
	via === undefined ? note : note === undefined ? `via ${via}` : `${note} (via ${via})`;
