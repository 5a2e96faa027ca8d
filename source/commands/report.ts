import {setFlagsFromString} from 'node:v8';
import type {World} from '../core/model/ports.js';
import {
	byDay,
	byGpu,
	byModel,
	byUser,
	type Report,
	type SeriesOptions,
	type Split,
	type TimeWindow,
} from '../core/rules/pool/report.js';
import {heldUseOf, mostHeldUseHours} from '../core/operations/history/held-use.js';
import {reportOf, type ReportQuestion} from '../core/operations/history/report.js';
import {readForDisplay} from '../core/operations/transact.js';
import type {EngineWorld} from '../core/operations/engine.js';
import {loadName} from '../core/rules/pool/load-minutes.js';
import {CanhazgpuError, quoted} from '../errors.js';
import {localDay, localHour} from '../format/text/days.js';
import {harmlessJson} from '../format/text/json.js';
import {heldUseCsv, heldUseJson, heldUseTable} from '../format/tables/held-use.js';
import {reportCsv, reportJson, reportTable} from '../format/tables/report.js';
import {counted} from '../format/text/numbers.js';
import {sanitize} from '../format/text/text.js';
import type {App} from '../app/contract.js';
import type {Command, Input} from '../command-line/command.js';
import {jsonFlag} from './shared/common-flags.js';
import {refuseBoth} from './shared/flag-values.js';
import {parseSince} from './shared/time-of-day.js';
import {withWorld} from './shared/with-world.js';

const splits: Readonly<Record<string, Split>> = {user: byUser, gpu: byGpu, day: byDay(localDay), model: byModel};

function splitOf(by: string, name = 'by'): Split {
	const split = Object.hasOwn(splits, by) ? splits[by] : undefined;
	if (split === undefined) {
		throw new CanhazgpuError('usage', `${name} must be one of ${Object.keys(splits).join(', ')}, not ${quoted(by)}`);
	}

	return split;
}

/** Charts of up to this length have a bar for each hour. Longer charts have a bar for each day. */
const longestByHourSeconds = 2 * 86_400;

/** Returns the options of a report's chart. The chart of a report by day shows users, because the rows of the report do not name them. */
export const seriesBy =
	(by: string) =>
	({from, to}: TimeWindow): SeriesOptions => ({
		split: by === 'day' ? byUser : splitOf(by),
		binAt: to - from <= longestByHourSeconds ? localHour : localDay,
	});

/** Returns a report. Days are sorted by time. Users, GPUs and other rows are sorted by hours, most first. */
export async function reportBy(
	world: World,
	{by, ...question}: Omit<ReportQuestion, 'split'> & {readonly by: string},
): Promise<Report> {
	const made = await reportOf(world, {...question, split: splitOf(by)});
	return by === 'day' ? {...made, rows: made.rows.toSorted((a, b) => a.key.localeCompare(b.key, 'en'))} : made;
}

const secondsPerDay = 86_400;
const daysOfUse = mostHeldUseHours / 24;

function periodOf(input: Input): {readonly question: Pick<ReportQuestion, 'days' | 'from'>; readonly words: string} {
	// For --used, the default is the longest time for which the load of the GPUs is recorded.
	const days = input.has('used') && !input.config.isGiven('report.days') ? daysOfUse : input.config.get('report.days')!;
	const typed = input.text('since');
	if (typed === undefined) {
		return {question: {days}, words: `in the last ${counted(days, 'day')}`};
	}

	refuseBoth(input, 'days', 'since');
	const since = parseSince(typed);
	return 'time' in since
		? {question: {days, from: since.time}, words: `since ${sanitize(typed.trim())}`}
		: {question: {days: since.seconds / secondsPerDay}, words: `in the last ${sanitize(typed.trim())}`};
}

const forms: readonly string[] = ['table', 'csv'];

type Asked = ReturnType<typeof periodOf> & {readonly world: EngineWorld};

/** Prints how much of the reserved time each GPU was used. Scans the GPUs, because the load history identifies GPUs by UUID. */
async function printHeldUse(app: App, input: Input, {world, question, words}: Asked): Promise<void> {
	if (world.engine !== undefined) {
		throw new CanhazgpuError(
			'failed',
			`${await world.engine.label()} does not record how busy the GPUs of a job were`,
			{
				hint: 'For the reserved GPU hours, leave out --used.',
			},
		);
	}

	const scan = await world.gpus.observe();
	if (scan.failure !== undefined) {
		app.remark(`The used time is unknown: ${sanitize(scan.failure.message)}`);
	}

	const names = new Map(scan.gpus.map((reading) => [reading.index, loadName(reading)]));
	const {now} = await readForDisplay(world);
	const hours = question.from === undefined ? question.days * 24 : (now - question.from) / 3600;
	const made = await heldUseOf(world, hours, (gpu) => names.get(gpu));
	const user = input.text('user');
	const report = {...made, rows: made.rows.filter((row) => user === undefined || row.user === user)};
	if (input.config.get('report.json') === true && !input.has('format')) {
		app.print(harmlessJson(heldUseJson(report)));
	} else if (input.text('format') === 'csv') {
		app.print(heldUseCsv(heldUseJson(report)));
	} else {
		app.print(heldUseTable(report, {period: words, user, width: app.columns}, app.paint));
	}
}

export const report: Command = {
	name: 'report',
	summary: 'Show how many GPU hours each user reserved',
	usage: '[--days N | --since WHEN] [--by user|gpu|day|model | --used] [--json | --format FORM]',
	examples: [
		['canhazgpu report --days 7', 'GPU hours of the last week by user'],
		['canhazgpu report --by day --user alice', 'GPU hours of one user by day'],
		['canhazgpu report --used', 'how much of the reserved time was used'],
	],
	flags: {
		days: {
			shortFlag: 'd',
			value: 'N',
			summary: 'report on the last N days (default: 30, with --used 7); records are kept for at least 90 days',
			setting: 'report.days',
			completes: ['1', '3', '7', '14', '30', '60', '90'],
		},
		since: {
			value: 'WHEN',
			summary: 'instead of --days, report since this time, such as 12h (ago), 7d, 2026-05-01 or 2026-05-01T18:30',
			completes: ['12h', '1d', '7d', '30d'],
		},
		by: {value: 'WHAT', summary: 'group by user, gpu, day or model (default: user)', completes: Object.keys(splits)},
		used: {summary: 'compare the time reserved with the time used'},
		user: {shortFlag: 'u', value: 'NAME', summary: 'report only on this user', completes: 'users'},
		json: {...jsonFlag, setting: 'report.json'},
		format: {value: 'FORM', summary: 'print a table or csv (default: table)', completes: forms},
	},
	async run(app, input) {
		const by = input.text('by') ?? 'user';
		splitOf(by, '--by');
		const form = input.text('format') ?? 'table';
		if (!forms.includes(form)) {
			throw new CanhazgpuError('usage', `--format must be one of ${forms.join(', ')}, not ${quoted(form)}`);
		}

		refuseBoth(input, 'json', 'format');
		if (input.has('used') && input.has('by')) {
			throw new CanhazgpuError('usage', 'Give --used or --by, not both: --used always groups by user');
		}

		const {question, words} = periodOf(input);
		// Reading a long history creates many short-lived objects. Without this flag, V8 would reserve 200 MiB for them.
		setFlagsFromString('--semi-space-growth-factor=1');
		return withWorld(app, {}, async (world) => {
			if (input.has('used')) {
				await printHeldUse(app, input, {world, question, words});
				return 0;
			}

			const made = await reportBy(world, {...question, by, user: input.text('user')});
			if (input.config.get('report.json') === true && !input.has('format')) {
				app.print(harmlessJson(reportJson(made, by)));
			} else if (form === 'csv') {
				app.print(reportCsv(made, by));
			} else {
				app.print(
					reportTable(
						made,
						{by, period: words, user: input.text('user'), hasBars: app.columns !== undefined, width: app.columns},
						app.paint,
					),
				);
			}

			return 0;
		});
	},
};
