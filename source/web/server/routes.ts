import {RESPONSE_ALREADY_SENT} from '@hono/node-server/utils/response';
import {Hono, type Context} from 'hono';
import {compress} from 'hono/compress';
import {etag} from 'hono/etag';
import {CanhazgpuError} from '../../errors.js';
import type {RemoteHosts} from '../api/hosts.js';
import type {ShownCommands} from '../api/commands.js';
import {helpIndex, helpText} from '../api/help-text.js';
import {apiJson} from '../api/json.js';
import type {Metrics} from '../api/metrics.js';
import type {LiveView} from '../../core/live/live-view.js';
import {mostHeldUseHours} from '../../core/operations/history/held-use.js';
import {heldUseCsv, type HeldUseJson} from '../../format/tables/held-use.js';
import type {OccupancyJson} from '../api/occupancy-json.js';
import {dayNamed} from '../../format/text/days.js';
import {webReportCsv} from '../../format/tables/report.js';
import type {Make, ReportJson, ReportQuestion} from '../api/reports.js';
import {queueJson, statusJson} from '../api/status-json.js';
import {mostMinutes, type UtilizationRecorder} from '../api/utilization-json.js';
import type {MinuteLoads} from '../../core/model/observation.js';
import {actPaths, addActing, type Acting} from './act-routes.js';
import type {EventStreams} from './stream.js';
import {guard, type Bindings} from './guard.js';
import {bytesOf, codings, pageFiles} from './assets.js';

/** A question about this host. `host` is never set, because this server does not know the usage of other hosts. */
export type HoursQuestion = {readonly host?: undefined; readonly hours: number};

export type Parts = {
	readonly names: ReadonlySet<string>;
	readonly hostname: string;
	readonly liveView: LiveView;
	readonly streams: EventStreams;
	readonly reports: Make<ReportQuestion, Record<string, unknown>>;
	readonly occupancy: Make<HoursQuestion, OccupancyJson>;
	readonly jobs: () => Promise<ReadonlyArray<Record<string, unknown>>>;
	readonly heldUse: Make<HoursQuestion, HeldUseJson>;
	readonly hosts: RemoteHosts;
	readonly commands: ShownCommands;
	readonly hasPool: () => boolean;
	readonly metrics: Metrics;
	readonly use: UtilizationRecorder;
	readonly acting?: Acting | undefined;
	/** Returns the loads of the last minutes from the pool. Returns an empty list if the pool cannot be read. */
	readonly keptLoads: (minutes: number) => Promise<readonly MinuteLoads[]>;
	/** Called with an error that is a bug. The client does not see the error. */
	readonly broken: (error: unknown) => void;
};

const takes = (context: Context, coding: string): boolean =>
	(context.req.header('accept-encoding') ?? '')
		.split(',')
		.map((word) => word.split(';', 2).map((part) => part.trim()))
		.some(([name, weight = '']) => name === coding && !/^q=0(?:\.0*)?$/v.test(weight));

const wrong = (message: string): CanhazgpuError => new CanhazgpuError('usage', message);

function numberOf(context: Context, name: string, fallback: number, [least, most]: readonly [number, number]): number {
	const text = context.req.query(name);
	const value = text === undefined ? fallback : /^\d{1,6}$/v.test(text) ? Number(text) : NaN;
	if (!(value >= least && value <= most)) {
		throw wrong(`${name} must be a whole number from ${least} to ${most}`);
	}

	return value;
}

type ErrorStatus = 400 | 404 | 500 | 503;

const respond = (context: Context, value: unknown, status?: ErrorStatus): Response =>
	context.body(apiJson(value), status ?? 200, {'content-type': 'application/json'});

/** The name of this host in the Go program's API. */
const localName = 'localhost';

type Rows = ReadonlyArray<{readonly status: string}>;

/** Returns the status of a host in the format of the Go program. If there is an `error`, `statuses` is empty. */
function hostStatus(host: string, answer: Rows | {readonly error: string}) {
	if ('error' in answer) {
		return {host, statuses: [], error: answer.error};
	}

	const count = (word: string): number => answer.filter(({status}) => status === word).length;
	return {
		host,
		statuses: answer,
		summary: {
			total: answer.length,
			available: count('AVAILABLE'),
			in_use: count('IN_USE'),
			unreserved: count('UNRESERVED'),
			error: count('ERROR'),
		},
	};
}

async function localRows({liveView, commands}: Parts): Promise<Rows | {readonly error: string}> {
	try {
		return statusJson(await liveView.fresh(), commands);
	} catch (error) {
		if (error instanceof CanhazgpuError) {
			return {error: error.message};
		}

		throw error;
	}
}

async function remoteRows({hosts}: Parts, host: string): Promise<Rows | {readonly error: string} | undefined> {
	const known = await hosts.answer(host);
	return known && ('error' in known ? {error: known.error} : known.status);
}

const isLocal = ({hostname}: Parts, host: string | undefined): boolean =>
	host === undefined || [hostname, localName].includes(host);

const rowsOf = async (parts: Parts, host: string) =>
	isLocal(parts, host) ? localRows(parts) : remoteRows(parts, host);

const noSuchHost = (context: Context): Response =>
	respond(context, {error: 'There is no such host: see /api/hosts'}, 404);

function addHosts(app: Hono<Bindings>, parts: Parts): void {
	const names = (): readonly string[] => [...(parts.hasPool() ? [parts.hostname] : []), ...parts.hosts.names];
	app.get('/api/hosts', (context) =>
		respond(
			context,
			names().map((name) => ({name, is_local: name === parts.hostname})),
		),
	);
	app.get('/api/hosts/status', async (context) => {
		const host = context.req.query('host');
		if (host === undefined) {
			const answers = names().map(async (name) => hostStatus(name, (await rowsOf(parts, name))!));
			return respond(context, await Promise.all(answers));
		}

		const answer = await rowsOf(parts, host);
		if (answer === undefined) {
			return noSuchHost(context);
		}

		return 'error' in answer
			? respond(context, {host, statuses: [], error: answer.error}, 503)
			: respond(context, {host, statuses: answer});
	});
}

const mostOccupancyHours = 168;
const mostPoints = 2160;

const defaultDays = 30;
const mostDays = 365;

/** Parses `days` as the Go program does: returns 30 if it is not a number, and at most 365. */
function daysOf(context: Context): number {
	const text = context.req.query('days') ?? '';
	const days = /^\d{1,9}$/v.test(text) ? Number(text) : 0;
	return days === 0 ? defaultDays : Math.min(mostDays, days);
}

/** Parses `from` and `to` as local dates. The period includes both days completely. */
function datesOf(context: Context, otherHost: string | undefined): {readonly from?: number; readonly to?: number} {
	const [first, last] = ['from', 'to'].map((name) => {
		const text = context.req.query(name);
		const day = text === undefined ? undefined : dayNamed(text);
		if (text !== undefined && day === undefined) {
			throw wrong(`${name} must be a day such as 2026-05-01`);
		}

		return day;
	});
	if (first === undefined && last === undefined) {
		return {};
	}

	if (otherHost !== undefined) {
		throw wrong('from and to work only for this host: for other hosts, use days');
	}

	if (first === undefined) {
		throw wrong('to works only together with from');
	}

	if (first.from > Date.now() / 1000) {
		throw wrong('from must not be in the future');
	}

	if (last !== undefined && last.from < first.from) {
		throw wrong('to must not be before from');
	}

	return {from: first.from, to: last?.to};
}

function formatOf(context: Context): 'json' | 'csv' {
	const format = context.req.query('format') ?? 'json';
	if (format !== 'json' && format !== 'csv') {
		throw wrong('format must be json or csv');
	}

	return format;
}

const respondCsv = (context: Context, text: string, name: string): Response =>
	context.body(`${text}\n`, 200, {
		'content-type': 'text/csv; charset=utf-8',
		'content-disposition': `attachment; filename="${name}.csv"`,
	});

function addApi(app: Hono<Bindings>, parts: Parts): void {
	const {liveView, streams, reports, occupancy, heldUse, metrics, use, hosts, commands, hasPool} = parts;
	app.get('/api/status', async (context) => respond(context, statusJson(await liveView.fresh(), commands)));
	app.get('/api/queue', async (context) => respond(context, queueJson(await liveView.fresh())));
	app.get('/api/jobs', async (context) => respond(context, await parts.jobs()));
	app.get('/api/report', async (context) => {
		const host = context.req.query('host');
		const other = isLocal(parts, host) ? undefined : host;
		if (other !== undefined && !hosts.names.includes(other)) {
			return noSuchHost(context);
		}

		const format = formatOf(context);
		const by = context.req.query('by') ?? 'user';
		const made = await reports({host: other, days: daysOf(context), by, ...datesOf(context, other)});
		return format === 'json'
			? respond(context, made)
			: respondCsv(context, webReportCsv(made as ReportJson, by), `gpu-hours-by-${by}`);
	});
	const hoursAsked = (context: Context, mostHours: number): HoursQuestion => {
		if (!isLocal(parts, context.req.query('host'))) {
			throw wrong('host must be this host: the history of other hosts is not known here');
		}

		return {hours: numberOf(context, 'hours', 24, [1, mostHours])};
	};

	app.get('/api/occupancy', async (context) =>
		respond(context, await occupancy(hoursAsked(context, mostOccupancyHours))),
	);
	app.get('/api/held-use', async (context) => {
		const format = formatOf(context);
		const made = await heldUse(hoursAsked(context, mostHeldUseHours));
		return format === 'json' ? respond(context, made) : respondCsv(context, heldUseCsv(made), 'reserved-and-used');
	});
	app.get('/api/use', async (context) => {
		const minutes = numberOf(context, 'minutes', 360, [1, mostMinutes]);
		const gpu = context.req.query('gpu') === undefined ? undefined : numberOf(context, 'gpu', 0, [0, 9999]);
		const points = numberOf(context, 'points', mostPoints, [1, mostPoints]);
		return respond(context, use.last(minutes, {gpu, points}, await parts.keptLoads(minutes)));
	});
	app.get('/api/events', (context) => {
		const {outgoing, incoming} = context.env;
		if (incoming.method === 'HEAD') {
			return context.body(null, 200, {'content-type': 'text/event-stream; charset=utf-8'});
		}

		for (const [name, value] of context.res.headers) {
			outgoing.setHeader(name, value);
		}

		const withHosts = context.req.query('hosts') !== undefined;
		return streams.open(outgoing, {withHosts, isSqueezed: takes(context, 'gzip')})
			? RESPONSE_ALREADY_SENT
			: context.text('Too many event streams are open\n', 503, {'retry-after': '30'});
	});
	app.get('/metrics', async (context) =>
		context.body(await metrics.text(), 200, {'content-type': metrics.contentType}),
	);
	app.get('/healthz', (context) => {
		const {lost, blind, snapshot, observation} = liveView.current();
		if (!hasPool()) {
			return respond(context, {status: 'ok', pool: false});
		}

		const reason =
			lost?.reason ??
			blind?.reason ??
			(snapshot === undefined || observation === undefined ? 'the pool has not been read yet' : undefined);
		return reason === undefined
			? respond(context, {status: 'ok'})
			: respond(context, {status: 'unavailable', reason}, 503);
	});
}

export function createRoutes(parts: Parts): Hono<Bindings> {
	const app = new Hono<Bindings>();
	app.use(guard(parts.names, parts.acting && actPaths));
	app.use(compress());
	app.use(etag());
	for (const file of pageFiles) {
		const headers = {
			'content-type': file.type,
			vary: 'accept-encoding',
			...(file.isImmutable && {'cache-control': 'public, max-age=31536000, immutable'}),
		};
		app.get(file.path, (context) => {
			const coding = codings.find((name) => takes(context, name));
			return context.body(bytesOf(file, coding), 200, {
				...headers,
				...(coding !== undefined && {'content-encoding': coding}),
			});
		});
	}

	app.get('/help', (context) => context.text(helpIndex()));
	app.get('/help/:topic', async (context) => {
		const text = await helpText(context.req.param('topic'));
		return text === undefined ? context.text('There is no such topic: see /help\n', 404) : context.text(text);
	});
	addApi(app, parts);
	addHosts(app, parts);
	if (parts.acting !== undefined) {
		addActing(app, parts.acting);
	}

	app.notFound((context) => context.text('Not found\n', 404));
	app.onError((error, context) => {
		if (error instanceof CanhazgpuError) {
			return respond(context, {error: error.message}, error.code === 'usage' ? 400 : 503);
		}

		// Reading the body fails if the browser closes the connection before it has sent everything.
		if (context.env.incoming.complete) {
			parts.broken(error);
		}

		return respond(context, {error: 'Internal error'}, 500);
	});
	return app;
}
