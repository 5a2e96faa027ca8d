/** What is answered where. */
import {RESPONSE_ALREADY_SENT} from '@hono/node-server/utils/response';
import {Hono, type Context} from 'hono';
import {compress} from 'hono/compress';
import {etag} from 'hono/etag';
import {CanhazgpuError} from '../../errors.js';
import {errorJson, type RemoteHosts} from '../api/hosts.js';
import type {ShownCommands} from '../api/commands.js';
import {helpIndex, helpText} from '../api/help-text.js';
import {apiJson} from '../api/json.js';
import type {Metrics} from '../api/metrics.js';
import type {LiveView} from '../../core/live/live-view.js';
import type {Reports} from '../api/reports.js';
import {queueJson, statusJson} from '../api/status-json.js';
import type {UtilizationRecorder} from '../api/utilization-json.js';
import type {EventStreams} from './stream.js';
import {guard, type Bindings} from './guard.js';
import {codings, compressedFile, pageFiles} from './assets.js';

export type Parts = {
	/** Under which names this server is known. */
	readonly names: ReadonlySet<string>;
	readonly hostname: string;
	readonly liveView: LiveView;
	readonly streams: EventStreams;
	readonly reports: Reports;
	readonly hosts: RemoteHosts;
	readonly commands: ShownCommands;
	/** False where this host has no pool, and other hosts alone are shown. */
	readonly hasPool: () => boolean;
	readonly metrics: Metrics;
	readonly use: UtilizationRecorder;
	/** Told of a bug; the client is told nothing of it. */
	readonly broken: (error: unknown) => void;
};

/** Whether the one who asks takes an answer that is compressed so. */
const takes = (context: Context, coding: string): boolean =>
	(context.req.header('accept-encoding') ?? '')
		.split(',')
		.map((word) => word.split(';', 2).map((part) => part.trim()))
		.some(([name, weight = '']) => name === coding && !/^q=0(?:\.0*)?$/v.test(weight));

const wrong = (message: string): CanhazgpuError => new CanhazgpuError('usage', message);

/** A whole number from the query, within bounds; anything else is refused by name. */
function numberOf(context: Context, name: string, fallback: number, [least, most]: readonly [number, number]): number {
	const text = context.req.query(name);
	const value = text === undefined ? fallback : /^\d{1,6}$/v.test(text) ? Number(text) : NaN;
	if (!(value >= least && value <= most)) {
		throw wrong(`${name} must be a whole number from ${least} to ${most}`);
	}

	return value;
}

type ErrorStatus = 400 | 404 | 500 | 503;

/** @param status - Of an error; 200 when left out. */
const respond = (context: Context, value: unknown, status?: ErrorStatus): Response =>
	context.body(apiJson(value), status ?? 200, {'content-type': 'application/json'});

/** The peer's word for the host that is asked. */
const localName = 'localhost';

type Rows = ReadonlyArray<{readonly status: string}>;

/** What a host says, in the shape of the peer: `statuses` is empty where `error` says why. */
const hostStatus = (host: string, answer: Rows | {readonly error: string}) =>
	'error' in answer
		? {host, statuses: [], error: answer.error}
		: {
				host,
				statuses: answer,
				summary: {
					total: answer.length,
					available: answer.filter(({status}) => status === 'AVAILABLE').length,
					in_use: answer.filter(({status}) => status === 'IN_USE').length,
					unreserved: answer.filter(({status}) => status === 'UNRESERVED').length,
					error: answer.filter(({status}) => status === 'ERROR').length,
				},
			};

/** The rows of this host, or why there are none. */
async function localRows({liveView, commands}: Parts): Promise<Rows | {readonly error: string}> {
	try {
		return statusJson(await liveView.fresh(), commands);
	} catch (error) {
		if (error instanceof CanhazgpuError) {
			return errorJson(error.message);
		}

		throw error;
	}
}

async function remoteRows({hosts}: Parts, host: string): Promise<Rows | {readonly error: string} | undefined> {
	const known = await hosts.answer(host);
	return known && ('error' in known ? errorJson(known.error) : known.status);
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

const defaultDays = 30;
const mostDays = 365;

/** As the peer: what is no number of days is 30 days. More than a year is a year. */
function daysOf(context: Context): number {
	const text = context.req.query('days') ?? '';
	const days = /^\d{1,9}$/v.test(text) ? Number(text) : 0;
	return days === 0 ? defaultDays : Math.min(mostDays, days);
}

function addApi(app: Hono<Bindings>, parts: Parts): void {
	const {liveView, streams, reports, metrics, use, hosts, commands, hasPool} = parts;
	app.get('/api/status', async (context) => respond(context, statusJson(await liveView.fresh(), commands)));
	app.get('/api/queue', async (context) => respond(context, queueJson(await liveView.fresh())));
	app.get('/api/report', async (context) => {
		const host = context.req.query('host');
		const other = isLocal(parts, host) ? undefined : host;
		return other !== undefined && !hosts.names.includes(other)
			? noSuchHost(context)
			: respond(
					context,
					await reports.report({host: other, days: daysOf(context), by: context.req.query('by') ?? 'user'}),
				);
	});
	app.get('/api/use', (context) => {
		const minutes = numberOf(context, 'minutes', 360, [1, 360]);
		const gpu = context.req.query('gpu') === undefined ? undefined : numberOf(context, 'gpu', 0, [0, 9999]);
		return respond(context, use.last(minutes, gpu));
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
			: context.text('Too many listen already\n', 503, {'retry-after': '30'});
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
	app.use(guard(parts.names));
	app.use(compress());
	app.use(etag());
	for (const file of pageFiles) {
		const headers = {
			'content-type': file.type,
			vary: 'accept-encoding',
			...(file.isImmutable && {'cache-control': 'public, max-age=31536000, immutable'}),
		};
		app.get(file.path, async (context) => {
			const coding = codings.find((name) => takes(context, name));
			return coding === undefined
				? context.body(file.text, 200, headers)
				: context.body(await compressedFile(file, coding), 200, {...headers, 'content-encoding': coding});
		});
	}

	app.get('/help', (context) => context.text(helpIndex()));
	app.get('/help/:topic', async (context) => {
		const text = await helpText(context.req.param('topic'));
		return text === undefined ? context.text('There is no such topic: see /help\n', 404) : context.text(text);
	});
	addApi(app, parts);
	addHosts(app, parts);
	app.notFound((context) => context.text('Not found\n', 404));
	app.onError((error, context) => {
		if (error instanceof CanhazgpuError) {
			return respond(context, errorJson(error.message), error.code === 'usage' ? 400 : 503);
		}

		parts.broken(error);
		return respond(context, {error: 'Internal error'}, 500);
	});
	return app;
}
