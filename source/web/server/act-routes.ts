import process from 'node:process';
import type {Context, Hono, MiddlewareHandler} from 'hono';
import {CanhazgpuError, type ErrorCode} from '../../errors.js';
import {apiJson} from '../api/json.js';
import type {Actor, Done} from '../act/actions.js';
import {createOnce} from '../act/once.js';
import {actNames, linkSchema, parseAct, parseBody} from '../act/requests.js';
import {linkMinutes, type Opened, type Sessions} from '../act/sessions.js';
import type {Bindings} from './guard.js';

export type Acting = {
	readonly account: string;
	readonly sessions: Sessions;
	readonly actor: Actor;
	readonly opened: () => void;
};

const mostBytes = 4096;

/** The only paths that accept a POST. */
export const actPaths: ReadonlySet<string> = new Set([
	'/api/session',
	'/api/session/end',
	...actNames.map((name) => `/api/act/${name}`),
]);

const refuse = (
	context: Context,
	status: 400 | 401 | 403 | 404 | 409 | 411 | 413 | 415 | 429 | 503,
	error: {readonly error: string; readonly hint?: string | undefined; readonly code?: string},
): Response => context.body(apiJson(error), status, {'content-type': 'application/json'});

const answer = (context: Context, value: unknown): Response =>
	context.body(apiJson(value), 200, {'content-type': 'application/json', 'cache-control': 'no-store'});

const statusOf: Readonly<Partial<Record<ErrorCode, 400 | 403 | 409 | 429 | 503>>> = {
	usage: 400,
	impossible: 400,
	'not-owner': 403,
	busy: 429,
	'store-unreachable': 503,
	'store-refused': 503,
	'no-pool': 503,
	'pool-garbage': 503,
};

/** Whether the Origin header, and the Sec-Fetch-Site header if there is one, show that a page of this server makes the request. */
function isOwnPage({host, origin, 'sec-fetch-site': site}: Readonly<Record<string, string | string[] | undefined>>) {
	return origin === `http://${String(host)}` && (site === undefined || site === 'same-origin');
}

const door: MiddlewareHandler<Bindings> = async (context, next) => {
	const {headers, method} = context.env.incoming;
	if (method !== 'POST') {
		return context.text('Only POST\n', 405, {allow: 'POST'});
	}

	if (!isOwnPage(headers)) {
		return refuse(context, 403, {error: 'Only a page of this server may do that, and this request has another Origin'});
	}

	if (!/^application\/json(?:;\s*charset=utf-8)?$/iv.test(headers['content-type'] ?? '')) {
		return refuse(context, 415, {error: 'The body must be JSON, with content-type: application/json'});
	}

	const length = Number(headers['content-length'] ?? NaN);
	if (headers['transfer-encoding'] !== undefined || !Number.isSafeInteger(length)) {
		context.header('connection', 'close');
		return refuse(context, 411, {error: 'The length of the body is unknown: send content-length'});
	}

	if (length > mostBytes) {
		context.header('connection', 'close');
		return refuse(context, 413, {error: `The body is longer than ${mostBytes} bytes`});
	}

	return next();
};

const tokenOf = (context: Context): string =>
	/^Bearer (?<token>[\w\-]{1,200})$/v.exec(context.req.header('authorization') ?? '')?.groups?.['token'] ?? '';

const linkText: Readonly<Record<Exclude<Opened['kind'], 'opened'>, string>> = {
	used: 'This link was opened before, and works only once',
	expired: `This link is older than ${linkMinutes} minutes`,
	unknown: 'This link belongs to another server, or was replaced by a newer link',
};

const linkHint = 'For another link press Enter where canhazgpu web --mine runs, or start it again.';

/** Adds the routes that make changes. The guard of the application must accept a POST to {@link actPaths}. */
export function addActing(app: Hono<Bindings>, {account, sessions, actor, opened}: Acting): void {
	/** Returns the account and the process id of this server. A second server asks for the id, to name it in its error message. */
	app.get('/api/mine', (context) => answer(context, {acts_as: account, pid: process.pid}));

	for (const path of actPaths) {
		app.use(path, door);
	}

	const signedIn: MiddlewareHandler<Bindings> = async (context, next) =>
		sessions.isOpen(tokenOf(context))
			? next()
			: refuse(context, 401, {
					error: 'This page is not allowed to make changes, or its session has ended',
					hint: linkHint,
				});

	app.post('/api/session', async (context) => {
		const {token} = parseBody(linkSchema, await context.req.text());
		const result = sessions.open(token);
		if (result.kind !== 'opened') {
			return refuse(context, 401, {error: linkText[result.kind], hint: linkHint});
		}

		opened();
		return answer(context, {acts_as: account, token: result.token});
	});
	app.post('/api/session/end', signedIn, (context) => {
		sessions.end(tokenOf(context));
		return answer(context, {words: 'This page can no longer make changes'});
	});
	const once = createOnce<Done>();
	for (const name of actNames) {
		app.post(`/api/act/${name}`, signedIn, async (context) => {
			try {
				const request = parseAct(name, await context.req.text());
				return answer(context, await once(`${name} ${request.id}`, async () => actor.perform(name, request)));
			} catch (error) {
				if (error instanceof CanhazgpuError) {
					const {code, message, hint} = error;
					return refuse(context, statusOf[code] ?? 409, {error: message, hint, code});
				}

				throw error;
			}
		});
	}
}
