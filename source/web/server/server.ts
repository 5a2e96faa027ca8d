/** The HTTP server itself: its limits, its start and its end. */
import {once} from 'node:events';
import {createServer, type Server, type ServerOptions} from 'node:http';
import type {AddressInfo, Socket} from 'node:net';
import {getRequestListener} from '@hono/node-server';
import type {Hono} from 'hono';
import {CanhazgpuError, codeOf} from '../../errors.js';
import {callersOf} from './callers.js';
import type {Bindings} from './guard.js';
import {listenAtSocket} from './socket.js';

/** A port, or a socket of the file system which only callers reach that `admits` answers true for. */
type Address =
	| {readonly host: string; readonly port: number}
	| {readonly socketPath: string; readonly admits: (socket: Socket) => boolean};

type Limits = {
	/** A request must have sent its headers after this long, and be whole after twice that. */
	readonly headersMs?: number;
	readonly mostConnections?: number;
	/** A connection on which nothing moves. */
	readonly idleMs?: number;
};

type WebServer = {
	/** 0 where it listens at a socket. */
	readonly port: number;
	/** Ends every connection, event streams too, at once. */
	readonly close: () => Promise<void>;
};

const listenFailures: Readonly<Record<string, (host: string, port: number) => CanhazgpuError>> = {
	EADDRINUSE: (host, port) =>
		new CanhazgpuError('failed', `Port ${port} of ${host} is in use by another program`, {
			hint: 'Choose another: canhazgpu web --port 8081, or any that is free: --port 0',
		}),
	EACCES: (_, port) =>
		new CanhazgpuError('failed', `This account may not use port ${port}`, {
			hint: 'Ports below 1024 are for root: canhazgpu web --port 8080',
		}),
	EADDRNOTAVAIL: (host) =>
		new CanhazgpuError('failed', `${host} is not an address of this machine`, {
			hint: 'Leave out --host, or use 0.0.0.0 for all of its addresses',
		}),
	ENOTFOUND: (host) =>
		new CanhazgpuError('failed', `${host} is not a host name that this machine knows`, {
			hint: 'Leave out --host, or use 0.0.0.0 for all of its addresses',
		}),
};

async function listen(server: Server, host: string, port: number): Promise<void> {
	try {
		server.listen(port, host);
		await once(server, 'listening');
	} catch (error) {
		const code = codeOf(error) ?? '';
		throw Object.hasOwn(listenFailures, code) ? listenFailures[code]!(host, port) : error;
	}
}

async function begin(server: Server, address: Address): Promise<(() => void) | undefined> {
	if ('port' in address) {
		await listen(server, address.host, address.port);
		return undefined;
	}

	// Before a byte of it is read.
	server.prependListener('connection', (socket: Socket) => {
		if (!address.admits(socket)) {
			socket.destroy();
		}
	});
	return listenAtSocket(server, address.socketPath);
}

/** How many more connections are held than there shall be, and how long, until it is known whose they are. */
const mostExtra = 500;
const shareMs = 100;

/**
Where there are too many connections, the newest of the caller with the most are closed. Whose they are is found for many at once, and once
each: it takes the kernel as long for one as for all.
*/
function shareConnections(server: Server, mostConnections: number): void {
	const open = new Map<Socket, string | undefined>();
	let timer: NodeJS.Timeout | undefined;

	const share = (): void => {
		clearTimeout(timer);
		timer = undefined;
		if (open.size <= mostConnections) {
			return;
		}

		const unknown = [...open].filter(([, caller]) => caller === undefined).map(([socket]) => socket);
		for (const [index, caller] of callersOf(unknown).entries()) {
			open.set(unknown[index]!, caller);
		}

		const shares = Map.groupBy(open.keys(), (socket) => open.get(socket)!)
			.values()
			.toArray();
		while (open.size > mostConnections) {
			const most = Math.max(...shares.map(({length}) => length));
			const newest = shares.find(({length}) => length === most)!.pop()!;
			open.delete(newest);
			newest.destroy();
		}
	};

	server.maxConnections = mostConnections + mostExtra;
	server.on('connection', (socket) => {
		open.set(socket, undefined);
		socket.once('close', () => {
			open.delete(socket);
		});
		if (open.size >= mostConnections + mostExtra) {
			share();
		} else if (open.size > mostConnections) {
			timer ??= setTimeout(share, shareMs).unref();
		}
	});
}

const optionsOf = (headersMs: number): ServerOptions => ({
	headersTimeout: headersMs,
	requestTimeout: 2 * headersMs,
	keepAliveTimeout: 10_000,
	// How often the two above are checked.
	connectionsCheckingInterval: Math.min(1000, headersMs / 2),
	maxHeaderSize: 8192,
	requireHostHeader: true,
});

/**
Listens at once, so that a port in use is known before anything else begins; requests wait for the routes.

@throws CanhazgpuError `failed` with a hint when it cannot listen.
*/
export async function startServer(
	address: Address,
	routes: Promise<Hono<Bindings>>,
	{headersMs = 5000, mostConnections = 2000, idleMs = 60_000}: Limits = {},
): Promise<WebServer> {
	const listener = getRequestListener(async (request, bindings) => (await routes).fetch(request, bindings));
	const server = createServer(optionsOf(headersMs), (incoming, outgoing) => {
		void listener(incoming, outgoing);
	});
	shareConnections(server, mostConnections);
	server.timeout = idleMs;
	// A tunnel or another protocol is none of this server's business.
	server.on('upgrade', (_, socket) => {
		socket.destroy();
	});
	server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
		if (!socket.writable || error.code === 'ECONNRESET') {
			socket.destroy();
			return;
		}

		const status =
			error.code === 'HPE_HEADER_OVERFLOW'
				? '431 Request Header Fields Too Large'
				: error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
					? '408 Request Timeout'
					: '400 Bad Request';
		socket.end(`HTTP/1.1 ${status}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`, () => {
			socket.destroy();
		});
	});
	const giveUpName = await begin(server, address);
	return {
		port: 'port' in address ? (server.address() as AddressInfo).port : 0,
		async close() {
			const closed = once(server, 'close');
			giveUpName?.();
			server.close();
			server.closeAllConnections();
			await closed;
		},
	};
}
