/** A local web server that imitates Slack, Discord, ntfy and a webhook. It checks each request as those services do. */
import {once} from 'node:events';
import {createServer, type IncomingMessage} from 'node:http';
import type {AddressInfo} from 'node:net';
import {text} from 'node:stream/consumers';
import {onTestFinished} from 'vitest';

type Heard = {readonly service: string; readonly body: string};

/** A secret part of every URL, which must not be seen anywhere else. */
export const token = 'hunter2';

const isJson = ({headers}: IncomingMessage): boolean => headers['content-type'] === 'application/json';

/** Returns the status with which the service answers. */
function statusOf(service: string, request: IncomingMessage, body: string): number {
	switch (service) {
		case 'slack': {
			return isJson(request) && typeof (JSON.parse(body) as {text?: unknown}).text === 'string' ? 200 : 400;
		}

		case 'discord': {
			return isJson(request) && typeof (JSON.parse(body) as {content?: unknown}).content === 'string' ? 204 : 400;
		}

		case 'ntfy': {
			return body.length > 0 && body.length <= 4096 ? 200 : 400;
		}

		case 'webhook': {
			return isJson(request) && typeof JSON.parse(body) === 'object' ? 200 : 400;
		}

		case 'away': {
			return 307;
		}

		default: {
			return 404;
		}
	}
}

/** Starts the server, which listens until the test ends. A request to `/hangs/...` gets no answer. */
export async function startChatServer() {
	const heard: Heard[] = [];
	const server = createServer((request, response) => {
		void (async () => {
			const body = await text(request);
			const [, service = '', secret] = request.url!.split('/', 3);
			heard.push({service, body});
			if (service === 'hangs') {
				return;
			}

			const status = request.method === 'POST' && secret === token ? statusOf(service, request, body) : 404;
			response.writeHead(status, {location: `/webhook/${token}`}).end();
		})();
	}).listen(0, '127.0.0.1');
	await once(server, 'listening');
	onTestFinished(() => {
		server.closeAllConnections();
		server.close();
	});
	const {port} = server.address() as AddressInfo;
	return {
		urlOf: (service: string): string => `http://127.0.0.1:${port}/${service}/${token}`,
		heard: (service: string): readonly string[] =>
			heard.filter((each) => each.service === service).map(({body}) => body),
	};
}
