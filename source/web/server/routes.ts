/** What is answered where. */
import {RESPONSE_ALREADY_SENT} from '@hono/node-server/utils/response';
import {Hono, type Context} from 'hono';
import {compress} from 'hono/compress';
import {etag} from 'hono/etag';
import {CanhazgpuError} from '../../errors.js';
import {errorJson, type RemoteHosts} from '../api/hosts.js';
import {apiJson} from '../api/json.js';
import type {Metrics} from '../api/metrics.js';
import type {LiveView} from '../../core/live/live-view.js';
import type {Reports} from '../api/reports.js';
import {queueJson, statusJson} from '../api/status-json.js';
import type {UtilizationRecorder} from '../api/utilization-json.js';
import type {EventStreams} from './stream.js';
import {guard, type Bindings} from './guard.js';
import {pageFiles} from './assets.js';

export type Parts = {
	/** Under which names this server is known. */
	readonly names: ReadonlySet<string>;
	readonly hostname: string;
	readonly liveView: LiveView;
	readonly streams: EventStreams;
	readonly reports: Reports;
	readonly hosts: RemoteHosts;
	readonly metrics: Metrics;
	readonly use: UtilizationRecorder;
	/** Told of a bug; the client is told nothing of it. */
	readonly broken: (error: unknown) => void;
};

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

/** The rows of this host, or why there are none. */
async function localRows({liveView}: Parts) {
	try {
		return statusJson(await liveView.fresh());
	} catch (error) {
		if (error instanceof CanhazgpuError) {
			return errorJson(error.message);
		}

		throw error;
	}
}

async function remoteRows({hosts}: Parts, host: string) {
	const known = await hosts.answer(host);
	return known && ('error' in known ? errorJson(known.error) : known.status);
}

const statusOf = async (parts: Parts, host: string) =>
	host === parts.hostname ? localRows(parts) : remoteRows(parts, host);

function addHosts(app: Hono<Bindings>, parts: Parts): void {
	const names = [parts.hostname, ...parts.hosts.names];
	app.get('/api/hosts', (context) =>
		respond(
			context,
			names.map((name) => ({name, is_local: name === parts.hostname})),
		),
	);
	app.get('/api/hosts/status', async (context) => {
		const host = context.req.query('host');
		if (host === undefined) {
			const answers = await Promise.all(names.map(async (name) => [name, await statusOf(parts, name)] as const));
			return respond(context, Object.fromEntries(answers));
		}

		const answer = await statusOf(parts, host);
		return answer === undefined ? respond(context, {error: 'There is no such host'}, 404) : respond(context, answer);
	});
}

function addApi(app: Hono<Bindings>, parts: Parts): void {
	const {liveView, streams, reports, metrics, use} = parts;
	app.get('/api/status', async (context) => respond(context, statusJson(await liveView.fresh())));
	app.get('/api/queue', async (context) => respond(context, queueJson(await liveView.fresh())));
	app.get('/api/report', async (context) =>
		respond(context, await reports.report(numberOf(context, 'days', 30, [1, 90]), context.req.query('by') ?? 'user')),
	);
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

		return streams.open(outgoing, {withHosts: context.req.query('hosts') !== undefined})
			? RESPONSE_ALREADY_SENT
			: context.text('Too many listen already\n', 503, {'retry-after': '30'});
	});
	app.get('/metrics', async (context) =>
		context.body(await metrics.text(), 200, {'content-type': metrics.contentType}),
	);
	app.get('/healthz', (context) => {
		const {lost, blind, snapshot, observation} = liveView.current();
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
	for (const {path, type, text, isImmutable} of pageFiles) {
		const headers = {
			'content-type': type,
			...(isImmutable && {'cache-control': 'public, max-age=31536000, immutable'}),
		};
		app.get(path, (context) => context.body(text, 200, headers));
	}

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
