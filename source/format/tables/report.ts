/**
Reports of use: as a table, as the peer's JSON, as CSV.
*/
import type {Report} from '../../core/rules/pool/report.js';
import {timestamp} from '../text/durations.js';
import {counted} from '../text/numbers.js';
import type {Paint} from '../text/paint.js';
import {ruledTable} from '../text/table.js';
import {sanitize, shorten} from '../text/text.js';

const barWidth = 20;

const bar = (percentage: number, largest: number): string =>
	'█'.repeat(largest > 0 ? Math.max(percentage > 0 ? 1 : 0, Math.round((percentage / largest) * barWidth)) : 0);

export type ReportTableOptions = {
	readonly by: string;
	readonly days: number;
	/** The only one asked for. */
	readonly user?: string;
	readonly hasBars: boolean;
	/** Of the terminal; without one nothing is left out. */
	readonly width?: number;
};

export function reportTable(
	{rows, totalGpuHours, totalReservations, uniqueUsers}: Report,
	{by, days, user, hasBars, width}: ReportTableOptions,
	paint: Paint,
): string {
	if (rows.length === 0) {
		const whose = user === undefined ? '' : ` by ${JSON.stringify(sanitize(user))}`;
		return `Nothing was used${whose} in the last ${counted(days, 'day')}`;
	}

	const largest = Math.max(...rows.map(({percentage}) => percentage));
	const table = ruledTable(
		[by.toUpperCase(), 'GPU HOURS', 'SHARE', 'RUN', 'MANUAL', ...(hasBars ? [''] : [])],
		rows.map(({key, gpuHours, percentage, runCount, manualCount}) => [
			shorten(sanitize(key), 40),
			gpuHours.toFixed(2).padStart(9),
			`${percentage.toFixed(1)}%`.padStart(6),
			String(runCount).padStart(3),
			String(manualCount).padStart(6),
			...(hasBars ? [{text: bar(percentage, largest), paint: paint.inUse}] : []),
		]),
		paint,
		{
			width,
			sacrifices: [
				['', 0],
				[by.toUpperCase(), 12],
				['MANUAL', 0],
				['RUN', 0],
			],
		},
	);
	return `${table}\n\n${totalGpuHours.toFixed(2)} GPU hours, ${counted(totalReservations, 'reservation')} by ${counted(uniqueUsers, 'user')} in the last ${counted(days, 'day')}`;
}

const hundredths = (value: number): number => Math.round(value * 100) / 100;

/** `report --json`, with the peer's keys. */
export const reportJson = ({rows, totalGpuHours, totalReservations, uniqueUsers, window}: Report, days: number) => ({
	users: rows.map(({key, gpuHours, percentage, runCount, manualCount}) => ({
		name: key,
		gpu_hours: hundredths(gpuHours),
		percentage,
		run_count: runCount,
		manual_count: manualCount,
	})),
	total_gpu_hours: hundredths(totalGpuHours),
	total_reservations: totalReservations,
	unique_users: uniqueUsers,
	start_date: timestamp(window.from),
	end_date: timestamp(window.to),
	days,
});

/** Whether a spreadsheet would take it for a formula, also by a full-width or small form of its first sign. */
const isFormula = (text: string): boolean => /^[+\-=@\u{2212}]/v.test(text.normalize('NFKC'));

/** One field, by RFC 4180, and one field also to programs that split at `;`. A formula is made text, as OWASP advises. */
function field(text: string): string {
	const plain = sanitize(text);
	const harmless = isFormula(plain) ? `'${plain}` : plain;
	return /[",;]/v.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}

export const reportCsv = ({rows}: Report, by: string): string =>
	[
		[by, 'gpu_hours', 'percentage', 'run_count', 'manual_count'].join(','),
		...rows.map(({key, gpuHours, percentage, runCount, manualCount}) =>
			[field(key), gpuHours.toFixed(4), percentage.toFixed(1), runCount, manualCount].join(','),
		),
	].join('\n');
