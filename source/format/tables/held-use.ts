import type {HeldUseReport} from '../../core/operations/history/held-use.js';
import {clockTime} from '../text/days.js';
import {timestamp} from '../text/durations.js';
import type {Paint} from '../text/paint.js';
import {ruledTable} from '../text/table.js';
import {sanitize, shorten} from '../text/text.js';
import {csvField, toTenThousandths} from './report.js';

/** Maximum number of gaps in the list. If there are more, only the longest are listed. */
const mostGaps = 100;

/** Returns `report --used --json`, which is also `GET /api/held-use`. */
export const heldUseJson = ({window, rows, recordedHours, gaps}: HeldUseReport) => ({
	since: timestamp(Math.floor(window.from)),
	until: timestamp(Math.floor(window.to)),
	recorded_hours: toTenThousandths(recordedHours),
	not_recorded: gaps
		.toSorted((a, b) => b.to - b.from - (a.to - a.from))
		.slice(0, mostGaps)
		.toSorted((a, b) => a.from - b.from)
		.map(({from, to}) => ({since: timestamp(Math.floor(from)), until: timestamp(Math.floor(to))})),
	users: rows.map(({user, held, known, used, idle}) => ({
		name: user,
		reserved_gpu_hours: toTenThousandths(held),
		// The hours for which the load of the GPU was recorded. Used and idle hours are parts of them.
		known_gpu_hours: toTenThousandths(known),
		used_gpu_hours: toTenThousandths(used),
		idle_gpu_hours: toTenThousandths(idle),
	})),
});

export type HeldUseJson = ReturnType<typeof heldUseJson>;

export const heldUseCsv = ({users}: Pick<HeldUseJson, 'users'>): string =>
	[
		'user,reserved_gpu_hours,known_gpu_hours,used_gpu_hours,idle_gpu_hours',
		...users.map((row) =>
			[
				csvField(row.name),
				...[row.reserved_gpu_hours, row.known_gpu_hours, row.used_gpu_hours, row.idle_gpu_hours].map((hours) =>
					hours.toFixed(4),
				),
			].join(','),
		),
	].join('\n');

const percent = (part: number, whole: number): string => (whole > 0 ? `${Math.round((part / whole) * 100)}%` : '-');

const secondsPerHour = 3600;

function unseenText({window, recordedHours, gaps}: HeldUseReport): string {
	const hours = (window.to - window.from) / secondsPerHour;
	const longest = gaps.toSorted((a, b) => b.to - b.from - (a.to - a.from))[0];
	if (longest === undefined) {
		return `The GPUs were monitored for ${recordedHours.toFixed(1)} of ${hours.toFixed(1)} hours, without gaps of ten minutes or more`;
	}

	const times = `${clockTime(longest.from, window.to)} to ${clockTime(longest.to, longest.from)}`;
	const when = gaps.length === 1 ? times : `the longest gap was ${times}`;
	return `The GPUs were not monitored for ${(hours - recordedHours).toFixed(1)} of ${hours.toFixed(1)} hours: ${when}`;
}

type HeldUseTableOptions = {
	readonly period: string;
	readonly user?: string;
	readonly width?: number;
};

export function heldUseTable(made: HeldUseReport, {period, user, width}: HeldUseTableOptions, paint: Paint): string {
	const {rows} = made;
	if (rows.length === 0) {
		return `Nothing was reserved${user === undefined ? '' : ` by ${JSON.stringify(sanitize(user))}`} ${period}`;
	}

	const table = ruledTable(
		['USER', 'RESERVED', 'MEAN USE', 'IDLE', 'KNOWN'],
		rows.map(({user: name, held, known, used, idle}) => [
			shorten(sanitize(name), 40),
			held.toFixed(2).padStart('RESERVED'.length),
			percent(used, known).padStart('MEAN USE'.length),
			known > 0 ? idle.toFixed(2).padStart(7) : '-',
			percent(known, held).padStart('KNOWN'.length),
		]),
		paint,
		{width, sacrifices: [['USER', 8]]},
	);
	const sum = (of: (row: (typeof rows)[number]) => number): number => rows.reduce((total, row) => total + of(row), 0);
	const known = sum((row) => row.known);
	const whatRan =
		known > 0
			? `The use of ${known.toFixed(2)} of them is known: ${percent(
					sum(({used}) => used),
					known,
				)} busy, ${sum(({idle}) => idle).toFixed(2)} hours idle`
			: 'Their use is unknown';
	return [
		table,
		'',
		`${sum(({held}) => held).toFixed(2)} GPU hours were reserved ${period}. ${whatRan}`,
		unseenText(made),
	].join('\n');
}
