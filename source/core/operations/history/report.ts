import {withFallback} from '../../../errors.js';
import type {UsageHistory, World} from '../../model/ports.js';
import type {UsageRecord} from '../../model/types.js';
import {
	collectSeries,
	liveUsage,
	type Report,
	type SeriesOptions,
	type Split,
	type TimeWindow,
} from '../../rules/pool/report.js';
import {readForDisplay} from '../transact.js';

const secondsPerDay = 86_400;

export type ReportQuestion = {
	readonly days: number;
	/** Start of the window in seconds since the epoch. Replaces `days`. */
	readonly from?: number;
	readonly to?: number;
	readonly split: Split;
	readonly user?: string;
	readonly series?: (window: TimeWindow) => SeriesOptions;
};

/** Imports the history of older versions. Does nothing if this account may not write to the store, so the report lacks that history. */
export async function takeOverHistory({store}: World): Promise<void> {
	await withFallback(
		async () => store.takeOverHistory?.(),
		() => undefined,
		'store-refused',
	);
}

/** Returns the report. The users with the most hours come first. Rejects with a CanhazgpuError if the store fails. */
export async function reportOf(world: World, {days, from, to, split, user, series}: ReportQuestion): Promise<Report> {
	const snapshot = await readForDisplay(world);
	await takeOverHistory(world);
	const window = {from: from ?? snapshot.now - days * secondsPerDay, to: Math.min(to ?? snapshot.now, snapshot.now)};
	// Reads all records up to now, because a lease that ended after the window may have started inside the window.
	return makeReport(world.store.history(window.from, snapshot.now), liveUsage(snapshot), {
		window,
		split,
		user,
		series: series?.(window),
	});
}

/** Returns the percentages with one decimal. The percentages with the largest remainders are rounded up, so that the sum is 100.0. */
function percentages(hours: readonly number[], total: number): readonly number[] {
	if (!(total > 0)) {
		return hours.map(() => 0);
	}

	const exact = hours.map((value) => (value / total) * 1000);
	const tenths = exact.map((value) => Math.floor(value));
	const missing = 1000 - tenths.reduce((sum, value) => sum + value, 0);
	const order = exact
		.map((value, index) => ({remainder: value - Math.floor(value), index}))
		.toSorted((a, b) => (b.remainder === a.remainder ? a.index - b.index : b.remainder - a.remainder))
		.slice(0, missing);
	for (const {index} of order) {
		tenths[index]!++;
	}

	return tenths.map((value) => value / 10);
}

type Sum = {seconds: number; instanceSeconds: number; sharedMiBSeconds: number; runs: number; manuals: number};

const gibPerMiB = 1 / 1024;

type ReportOptions = {
	readonly window: TimeWindow;
	readonly split: Split;
	readonly user?: string;
	readonly series?: SeriesOptions;
};

/** Makes a report. Reads each record once and keeps only sums, so that a long history needs no more memory than a short one. */
export async function makeReport(
	records: UsageHistory | Iterable<UsageRecord>,
	live: readonly UsageRecord[],
	{window, split, user, series}: ReportOptions,
): Promise<Report> {
	const sums = new Map<string, Sum>();
	const users = new Set<string>();
	const collector = series && collectSeries(window, series);
	let totalReservations = 0;
	const add = (record: UsageRecord): void => {
		const span = {from: Math.max(record.startTime, window.from), to: Math.min(record.endTime, window.to)};
		// A record that only touches the window has no time in it. A record without any duration still counts.
		const isOutside = span.to < span.from || (span.to === span.from && record.startTime < record.endTime);
		if (isOutside || (user !== undefined && record.user !== user)) {
			return;
		}

		const isInstance = record.mig !== undefined;
		if (!isInstance) {
			collector?.add(record, span);
		}

		users.add(record.user);
		totalReservations++;
		for (const [index, {key, seconds}] of split(record, span).entries()) {
			const sum = sums.get(key) ?? {seconds: 0, instanceSeconds: 0, sharedMiBSeconds: 0, runs: 0, manuals: 0};
			sums.set(key, sum);
			sum[isInstance ? 'instanceSeconds' : 'seconds'] += seconds;
			sum.sharedMiBSeconds += seconds * (record.memoryMiB ?? 0);
			// A reservation that the split divides into several parts is counted once, in its first part.
			const counted = index === 0 ? 1 : 0;
			sum.runs += record.reservationType === 'run' ? counted : 0;
			sum.manuals += record.reservationType === 'manual' ? counted : 0;
		}
	};

	// Reads the records in pages, because awaiting each of a million records would take longer than adding them.
	for await (const page of 'pages' in records ? records.pages() : [records]) {
		for (const record of page) {
			add(record);
		}
	}

	for (const record of live) {
		add(record);
	}

	const ordered = [...sums].toSorted(([a, one], [b, other]) =>
		one.seconds === other.seconds
			? one.instanceSeconds === other.instanceSeconds
				? a.localeCompare(b, 'en')
				: other.instanceSeconds - one.instanceSeconds
			: other.seconds - one.seconds,
	);
	const total = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0);
	const hours = ordered.map(([, {seconds}]) => seconds / 3600);
	const instanceHours = ordered.map(([, {instanceSeconds}]) => instanceSeconds / 3600);
	const totalGpuHours = total(hours);
	const totalInstanceHours = total(instanceHours);
	const shares = totalGpuHours > 0 ? percentages(hours, totalGpuHours) : percentages(instanceHours, totalInstanceHours);
	return {
		rows: ordered.map(([key, {sharedMiBSeconds, runs, manuals}], index) => ({
			key,
			gpuHours: hours[index]!,
			...(instanceHours[index]! > 0 && {instanceHours: instanceHours[index]!}),
			...(sharedMiBSeconds > 0 && {sharedGibHours: (sharedMiBSeconds * gibPerMiB) / 3600}),
			percentage: shares[index]!,
			runCount: runs,
			manualCount: manuals,
		})),
		...(collector && {series: collector.series()}),
		totalGpuHours,
		...(totalInstanceHours > 0 && {totalInstanceHours}),
		totalReservations,
		uniqueUsers: users.size,
		window,
	};
}
