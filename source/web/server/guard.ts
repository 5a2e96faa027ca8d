import type {HttpBindings} from '@hono/node-server';
import type {MiddlewareHandler} from 'hono';
import {plainAddress} from './callers.js';

export type Bindings = {Bindings: HttpBindings};

const methods = 'GET, HEAD';

const securityHeaders: Readonly<Record<string, string>> = {
	'x-content-type-options': 'nosniff',
	'cross-origin-resource-policy': 'same-origin',
};

/** Headers of documents. They allow only files of this server, no inline scripts or styles, no frames, and only trusted types. */
const documentHeaders: Readonly<Record<string, string>> = {
	...securityHeaders,
	'content-security-policy': [
		"default-src 'none'",
		"script-src 'self'",
		"style-src 'self'",
		"img-src 'self'",
		"connect-src 'self'",
		"base-uri 'none'",
		"form-action 'none'",
		"frame-ancestors 'none'",
		"require-trusted-types-for 'script'",
		"trusted-types 'none'",
	].join('; '),
	'x-frame-options': 'DENY',
	'referrer-policy': 'no-referrer',
	'permissions-policy': 'camera=(), geolocation=(), microphone=()',
};

/** Isolates the window from pages of other sites. Sent only over https or to localhost. Elsewhere, browsers ignore this header with a warning. */
const openerHeader = {'cross-origin-opener-policy': 'same-origin'} as const;

/** Returns the host of `name:port`, `[::1]:port` or `name`, in lower case. Returns undefined if the header is invalid. */
export function hostnameOf(header: string | undefined): string | undefined {
	const {bracketed, plain} =
		/^(?:\[(?<bracketed>[\d:a-f]+)\]|(?<plain>[\w\-.]+))(?::\d{1,5})?$/v.exec((header ?? '').toLowerCase())?.groups ??
		{};
	return bracketed ?? plain?.replace(/\.$/v, '');
}

/** Whether the Host header is one of the given names, or the local address of the connection. This check prevents DNS rebinding. */
export function isOurs(
	header: string | undefined,
	names: ReadonlySet<string>,
	localAddress: string | undefined,
): boolean {
	const hostname = hostnameOf(header);
	return hostname !== undefined && (names.has(hostname) || hostname === plainAddress(localAddress ?? ''));
}

/** Whether the headers announce a body. Requests that only read data have none. */
const hasBody = (headers: Readonly<Record<string, string | string[] | undefined>>): boolean =>
	headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) !== 0;

/** Whether a page of another site makes the request. Such a page could use up the streams or overload hosts. Following a link is allowed. */
function isOfOtherSite(headers: Readonly<Record<string, string | string[] | undefined>>): boolean {
	const site = headers['sec-fetch-site'] ?? 'none';
	const isLink = headers['sec-fetch-mode'] === 'navigate' && headers['sec-fetch-dest'] === 'document';
	return site !== 'same-origin' && site !== 'none' && !isLink;
}

/** Refuses unwanted requests. `names` are the names of this server. `actPaths` accept a POST with a body, and have checks of their own. */
export const guard =
	(names: ReadonlySet<string>, actPaths: ReadonlySet<string> = new Set()): MiddlewareHandler<Bindings> =>
	async (context, next) => {
		const {incoming} = context.env;
		// Scripts and styles do not need the headers for documents, which would add half a kilobyte to each.
		const isPart = incoming.url?.startsWith('/page/') === true;
		const headers = isPart
			? securityHeaders
			: {...documentHeaders, ...(incoming.headers['sec-fetch-site'] !== undefined && openerHeader)};
		for (const [name, value] of Object.entries(headers)) {
			context.header(name, value);
		}

		context.header('cache-control', 'no-cache');
		if (!isOurs(incoming.headers.host, names, incoming.socket.localAddress)) {
			return context.text(
				'This server does not accept this host name. To allow it, add it to web.allowed_hosts in the config\n',
				403,
			);
		}

		if (isOfOtherSite(incoming.headers)) {
			return context.text('Only a page of this server may request this\n', 403);
		}

		const isAct = incoming.method === 'POST' && actPaths.has(incoming.url ?? '');
		if (!isAct && incoming.method !== 'GET' && incoming.method !== 'HEAD') {
			return context.text('Only GET and HEAD are allowed\n', 405, {allow: methods, connection: 'close'});
		}

		if (!isAct && hasBody(incoming.headers)) {
			return context.text('A request body is not allowed\n', 413, {connection: 'close'});
		}

		// Refuses a path that would match a route only after it is decoded or normalized.
		return (incoming.url ?? '').split('?', 1)[0] === context.req.path ? next() : context.text('Not found\n', 404);
	};
