import {once} from 'node:events';
import {createServer, type Server, type ServerOptions} from 'node:http';
import type {AddressInfo, Socket} from 'node:net';
import {getRequestListener} from '@hono/node-server';
import type {Hono} from 'hono';
import {CanhazgpuError} from '../../errors.js';
import {callersOf} from './callers.js';
import type {Bindings} from './guard.js';
import {listenAtSocket} from './socket.js';

/** The address to listen at: a host and port, or a Unix socket that only callers accepted by `admits` can use. */
type Address =
	| {readonly host: string; readonly port: number}
	| {readonly socketPath: string; readonly admits: (socket: Socket) => boolean};

type Limits = {
	/** Time limit in ms for the headers of a request. The limit for the whole request is twice as long. */
	readonly headersMs?: number;
	readonly mostConnections?: number;
	readonly idleMs?: number;
};

type WebServer = {
	/** The port. 0 for a Unix socket. */
	readonly port: number;
	/** Closes all connections immediately, including event streams. */
	readonly close: () => Promise<void>;
};

type ListenFailure = (host: string, port: number) => CanhazgpuError;

const addressHint = 'Leave out --host, or use 0.0.0.0 for all of its addresses';

const notOwnAddress: ListenFailure = (host) =>
	new CanhazgpuError('failed', `${host} is not an address of this machine`, {hint: addressHint});

const unknownName: ListenFailure = (host) =>
	new CanhazgpuError('failed', `${host} is not a host name that this machine knows`, {hint: addressHint});

const listenFailures: Readonly<Record<string, ListenFailure>> = {
	EADDRINUSE: (host, port) =>
		new CanhazgpuError('failed', `Port ${port} of ${host} is in use by another program`, {
			hint: 'Choose another with --port 8081, or let the system pick a free port with --port 0',
		}),
	EACCES: (_, port) =>
		new CanhazgpuError('failed', `This account is not allowed to use port ${port}`, {
			hint: 'Ports below 1024 are for root: canhazgpu web --port 8080',
		}),
	EADDRNOTAVAIL: notOwnAddress,
	// A link-local address without its interface, such as fe80::1.
	EINVAL: notOwnAddress,
	// An IPv6 address on a machine without IPv6.
	EAFNOSUPPORT: notOwnAddress,
	ENOTFOUND: unknownName,
	EAI_AGAIN: unknownName,
};

/** Returns the error for a failed `listen`. An error that does not come from the system is a bug and stays as it is. */
function listenFailure(error: unknown, host: string, port: number): unknown {
	const {code = '', errno, message} = error as NodeJS.ErrnoException;
	if (Object.hasOwn(listenFailures, code)) {
		return listenFailures[code]!(host, port);
	}

	return errno === undefined
		? error
		: new CanhazgpuError('failed', `The dashboard cannot listen at port ${port} of ${host}: ${message}`, {
				cause: error,
			});
}

async function listen(server: Server, host: string, port: number): Promise<void> {
	try {
		server.listen(port, host);
		await once(server, 'listening');
	} catch (error) {
		throw listenFailure(error, host, port);
	}
}

async function begin(server: Server, address: Address): Promise<(() => void) | undefined> {
	if ('port' in address) {
		await listen(server, address.host, address.port);
		return undefined;
	}

	// Checks the caller before any data is read.
	server.prependListener('connection', (socket: Socket) => {
		if (!address.admits(socket)) {
			socket.destroy();
		}
	});
	return listenAtSocket(server, address.socketPath);
}

/** Number of connections above the limit that stay open until their callers are known. */
const mostExtra = 500;
const shareMs = 100;

/** Limits the connections: closes the newest one of the caller with the most. Looks up callers in batches, to read the kernel's tables less often. */
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
	connectionsCheckingInterval: Math.min(1000, headersMs / 2),
	maxHeaderSize: 8192,
	requireHostHeader: true,
});

/** Listens before `routes` resolves, so that a port in use is reported first. Requests wait for `routes`. Throws `failed` if it cannot listen. */
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
	// Refuses tunnels and protocols other than HTTP.
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
