/** Who may ask what: the doors that every request goes through before anything is answered. */
import type {HttpBindings} from '@hono/node-server';
import type {MiddlewareHandler} from 'hono';
import {plainAddress} from './callers.js';

export type Bindings = {Bindings: HttpBindings};

const methods = 'GET, HEAD';

/** What holds for every answer: it is taken for nothing but what it is, and no page of another origin has it. */
const securityHeaders: Readonly<Record<string, string>> = {
	'x-content-type-options': 'nosniff',
	'cross-origin-resource-policy': 'same-origin',
};

/**
What holds for whatever can be shown by itself: nothing but this server's own files, no inline script or style, no frame around it, and no way
from text to markup in the page.
*/
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

/**
No page of another origin has a hold on the window. Browsers heed this by https or from their own machine alone, and complain of it elsewhere; there
they say nothing of the page that asks either.
*/
const openerHeader = {'cross-origin-opener-policy': 'same-origin'} as const;

/** Of `name:port`, `[::1]:port` or `name`, lower case. Undefined for what is no host. */
export function hostnameOf(header: string | undefined): string | undefined {
	const {bracketed, plain} =
		/^(?:\[(?<bracketed>[\d:a-f]+)\]|(?<plain>[\w\-.]+))(?::\d{1,5})?$/v.exec((header ?? '').toLowerCase())?.groups ??
		{};
	return bracketed ?? plain?.replace(/\.$/v, '');
}

/**
A page of another site whose name is made to point here (DNS rebinding) sends its own name: only ours are answered. Ours are the
names given, and the address at which this very connection arrived.
*/
export function isOurs(
	header: string | undefined,
	names: ReadonlySet<string>,
	localAddress: string | undefined,
): boolean {
	const hostname = hostnameOf(header);
	return hostname !== undefined && (names.has(hostname) || hostname === plainAddress(localAddress ?? ''));
}

/** A request for data has no body; one that announces one is refused before it is sent. */
const hasBody = (headers: Readonly<Record<string, string | string[] | undefined>>): boolean =>
	headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) !== 0;

/**
Where a browser says that the page of another site asks, nothing is done for it: it could not read the answer, but have other hosts asked, or
take up streams. A link from there is followed.
*/
function isOfOtherSite(headers: Readonly<Record<string, string | string[] | undefined>>): boolean {
	const site = headers['sec-fetch-site'] ?? 'none';
	const isLink = headers['sec-fetch-mode'] === 'navigate' && headers['sec-fetch-dest'] === 'document';
	return site !== 'same-origin' && site !== 'none' && !isLink;
}

/**
@param names - Under which this server is known.
@param actPaths - Addresses with doors of their own, which take a POST with a body.
*/
export const guard =
	(names: ReadonlySet<string>, actPaths: ReadonlySet<string> = new Set()): MiddlewareHandler<Bindings> =>
	async (context, next) => {
		const {incoming} = context.env;
		// Scripts and styles are shown as text at most: they need not carry half a kilobyte of rules for documents.
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
				"This host name is not one of this server's. Allow it: web.allowed_hosts in the config\n",
				403,
			);
		}

		if (isOfOtherSite(incoming.headers)) {
			return context.text('Only for its own page\n', 403);
		}

		const isAct = incoming.method === 'POST' && actPaths.has(incoming.url ?? '');
		if (!isAct && incoming.method !== 'GET' && incoming.method !== 'HEAD') {
			return context.text('Only GET and HEAD\n', 405, {allow: methods, connection: 'close'});
		}

		if (!isAct && hasBody(incoming.headers)) {
			return context.text('No body, please\n', 413, {connection: 'close'});
		}

		// What only becomes a known path by being decoded or tidied up is none.
		return (incoming.url ?? '').split('?', 1)[0] === context.req.path ? next() : context.text('Not found\n', 404);
	};
