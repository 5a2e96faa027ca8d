/** Sends a notice to a web server. The URL is a secret, and never appears in a command line or an error. */
import type {Delivery, HttpRequest} from '../../core/model/notice-request.js';
import {messageOf} from '../../errors.js';

/** Returns a message about the failure, without parts of the URL other than its host. */
function reasonOf(error: unknown, {url, headers}: HttpRequest): string {
	// The cause has the details. The message is only "fetch failed".
	const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
	const {href, pathname, search} = new URL(url);
	const secrets = [href, pathname, search, headers['authorization'] ?? ''].filter(({length}) => length > 1);
	const message = messageOf(cause);
	return secrets.some((secret) => message.includes(secret)) ? 'the request failed' : message;
}

/** Bun would send even requests to this machine to the proxy in HTTP_PROXY, which would then know the URL. With https, a proxy sees only the host. */
const direct = (url: string): {readonly proxy?: false} => (url.startsWith('http:') ? {proxy: false} : {});

export async function sendHttp(request: HttpRequest, signal: AbortSignal): Promise<Delivery> {
	const {url, method, headers, body} = request;
	try {
		const response = await fetch(url, {method, headers, body, redirect: 'manual', signal, ...direct(url)});
		await response.body?.cancel();
		if (response.ok) {
			return {outcome: 'delivered'};
		}

		const isRedirect = response.status >= 300 && response.status < 400;
		const why = isRedirect ? '. Redirects are not followed' : '';
		return {outcome: 'failed', reason: `it answered ${response.status}${why}`};
	} catch (error) {
		return {outcome: 'failed', reason: reasonOf(error, request)};
	}
}
