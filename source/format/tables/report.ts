import type {Report, ReportRow, ReportSeries} from '../../core/rules/pool/report.js';
import {localDay} from '../text/days.js';
import {timestamp} from '../text/durations.js';
import {counted, firstOf} from '../text/numbers.js';
import type {Paint} from '../text/paint.js';
import {ruledTable} from '../text/table.js';
import {sanitize, shorten} from '../text/text.js';

const barWidth = 20;

const bar = (percentage: number, largest: number): string =>
	'█'.repeat(largest > 0 ? Math.max(percentage > 0 ? 1 : 0, Math.round((percentage / largest) * barWidth)) : 0);

type ReportTableOptions = {
	readonly by: string;
	/** The period in words, such as `in the last 30 days`. */
	readonly period: string;
	readonly user?: string;
	readonly hasBars: boolean;
	readonly width?: number;
};

export const totalHoursText = ({
	totalGpuHours,
	totalInstanceHours,
}: Pick<Report, 'totalGpuHours' | 'totalInstanceHours'>): string =>
	[
		`${totalGpuHours.toFixed(2)} GPU hours`,
		...(totalInstanceHours === undefined ? [] : [`${totalInstanceHours.toFixed(2)} hours of MIG instances`]),
	].join(', ');

export function reportTable(
	{rows, totalGpuHours, totalInstanceHours, totalReservations, uniqueUsers}: Report,
	{by, period, user, hasBars, width}: ReportTableOptions,
	paint: Paint,
): string {
	if (rows.length === 0) {
		const whose = user === undefined ? '' : ` by ${JSON.stringify(sanitize(user))}`;
		return `No GPUs were reserved${whose} ${period}`;
	}

	const hasShares = rows.some(({sharedGibHours}) => sharedGibHours !== undefined);
	const hasInstances = totalInstanceHours !== undefined;
	const largest = Math.max(...rows.map(({percentage}) => percentage));
	const table = ruledTable(
		[
			by.toUpperCase(),
			'GPU HOURS',
			...(hasShares ? ['OF SHARES'] : []),
			...(hasInstances ? ['MIG HOURS'] : []),
			'SHARE',
			'RUN',
			'MANUAL',
			...(hasBars ? [''] : []),
		],
		rows.map(({key, gpuHours, sharedGibHours, instanceHours, percentage, runCount, manualCount}) => [
			shorten(sanitize(key), 40),
			gpuHours.toFixed(2).padStart(9),
			...(hasShares ? [sharedGibHours === undefined ? '-' : `${sharedGibHours.toFixed(1)} GiBh`.padStart(10)] : []),
			...(hasInstances ? [instanceHours === undefined ? '-' : instanceHours.toFixed(2).padStart(9)] : []),
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
				['OF SHARES', 0],
				['MIG HOURS', 0],
				[by.toUpperCase(), 12],
				['MANUAL', 0],
				['RUN', 0],
			],
		},
	);
	return `${table}\n\n${totalHoursText({totalGpuHours, totalInstanceHours})}, ${counted(totalReservations, 'reservation')} by ${counted(uniqueUsers, 'user')} ${period}`;
}

/** Returns rows with the keys of the Go program, unrounded. */
const reportRowsJson = ({
	rows,
	totalGpuHours,
	totalInstanceHours = 0,
}: Pick<Report, 'rows' | 'totalGpuHours' | 'totalInstanceHours'>) =>
	rows.map(({key, gpuHours, sharedGibHours, instanceHours, runCount, manualCount}) => ({
		name: key,
		gpu_hours: gpuHours,
		shared_gib_hours: sharedGibHours,
		mig_instance_hours: instanceHours,
		percentage:
			totalGpuHours > 0
				? (gpuHours / totalGpuHours) * 100
				: totalInstanceHours > 0
					? ((instanceHours ?? 0) / totalInstanceHours) * 100
					: 0,
		run_count: runCount,
		manual_count: manualCount,
	}));

const listNames = {user: 'users', gpu: 'gpus', day: 'daily', model: 'models'} as const;

const isListed = (by: string): by is keyof typeof listNames => Object.hasOwn(listNames, by);

const secondsPerDay = 86_400;

/** Returns totals, and the period both in whole days, as in the Go program, and with exact times. */
const sumsJson = ({totalGpuHours, totalInstanceHours, totalReservations, uniqueUsers, window}: Report) => ({
	total_gpu_hours: totalGpuHours,
	total_mig_instance_hours: totalInstanceHours,
	total_reservations: totalReservations,
	unique_users: uniqueUsers,
	start_date: localDay(window.from).key,
	end_date: localDay(window.to).key,
	days: Math.round(((window.to - window.from) / secondsPerDay) * 100) / 100,
	since: timestamp(window.from),
	until: timestamp(window.to),
});

/** Returns `report --json`. As in the Go program, the key of the rows depends on the grouping. */
export const reportJson = (made: Report, by: string) => ({
	by,
	[isListed(by) ? listNames[by] : 'rows']: reportRowsJson(made),
	...sumsJson(made),
});

export const toTenThousandths = (hours: number): number => Math.round(hours * 10_000) / 10_000;

const seriesJson = ({bins, rows, otherGpuHours}: ReportSeries) => ({
	bins,
	rows: rows.map(({key, gpuHours}) => ({name: key, gpu_hours: gpuHours.map((hours) => toTenThousandths(hours))})),
	other_gpu_hours: otherGpuHours?.map((hours) => toTenThousandths(hours)),
});

/** Returns the answer of `GET /api/report`. The rows are always under `users`, where clients of the Go program expect them. */
export const webReportJson = (made: Report, by: string) => ({
	by,
	users: reportRowsJson(made),
	...sumsJson(made),
	series: made.series && seriesJson(made.series),
});

/** Whether a spreadsheet would read a text as a formula. Full-width and small forms of the first sign count, too. */
const isFormula = (text: string): boolean => /^[+\-=@\u{2212}]/v.test(text.normalize('NFKC'));

/** Quotes a field for RFC 4180, and for programs that split at `;`. Formulas become text, as OWASP advises. */
export function csvField(text: string): string {
	const plain = sanitize(text);
	const harmless = isFormula(plain) ? `'${plain}` : plain;
	return /[",;]/v.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}

/** A row to export. Unknown values become empty fields. */
type CsvRow = Pick<ReportRow, 'key'> & Partial<ReportRow>;

export function reportCsv({rows}: {readonly rows: readonly CsvRow[]}, by: string): string {
	const hasInstances = rows.some(({instanceHours}) => instanceHours !== undefined);
	const hasShares = rows.some(({sharedGibHours}) => sharedGibHours !== undefined);
	const names = ['gpu_hours', 'percentage', 'run_count', 'manual_count'];
	return [
		[by, ...names, ...(hasInstances ? ['mig_instance_hours'] : []), ...(hasShares ? ['shared_gib_hours'] : [])].join(
			',',
		),
		...rows.map(({key, gpuHours, instanceHours = 0, sharedGibHours = 0, percentage, runCount, manualCount}) =>
			[
				csvField(key),
				gpuHours?.toFixed(4),
				percentage?.toFixed(1),
				runCount,
				manualCount,
				...(hasInstances ? [instanceHours.toFixed(4)] : []),
				...(hasShares ? [sharedGibHours.toFixed(4)] : []),
			].join(','),
		),
	].join('\n');
}

type OwnWebReportRow = ReturnType<typeof reportRowsJson>[number];

/** A row of another host, which may leave out any number. */
type WebReportRow = Pick<OwnWebReportRow, 'name'> & Partial<OwnWebReportRow>;

export const webReportCsv = ({users}: {readonly users: readonly WebReportRow[]}, by: string): string =>
	reportCsv(
		{
			rows: users.map((row) => ({
				key: row.name,
				gpuHours: row.gpu_hours,
				instanceHours: row.mig_instance_hours,
				sharedGibHours: row.shared_gib_hours,
				percentage: row.percentage,
				runCount: row.run_count,
				manualCount: row.manual_count,
			})),
		},
		by,
	);

/** How many rows the paragraph names. Any others are only counted. */
const namedRows = 20;

export const reportWords = (made: Report, days: number): string => {
	const period = `in the last ${counted(days, 'day')}`;
	const rows = made.rows.map(({key, gpuHours}) => `${shorten(sanitize(key), 40)} ${gpuHours.toFixed(2)}`);
	return rows.length === 0
		? `No GPUs were reserved ${period}.`
		: `${totalHoursText(made)} ${period}, in ${counted(made.totalReservations, 'reservation')} by ${counted(made.uniqueUsers, 'user')}: ${firstOf(rows, namedRows)}.`;
};
