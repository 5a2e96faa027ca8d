/**
A way to a server on which any one message can be held up, to see what becomes of those who wait for it.
*/
import {once} from 'node:events';
import {connect, createServer, type AddressInfo, type Socket} from 'node:net';

export type Proxy = {
	readonly port: number;
	/**
	Counts messages from now on, of either way and of all connections together, and holds up the one with this number, with all that
	follow: `meet` is told once it is there, before it is passed on.
	*/
	readonly stopAt: (number: number, meet: () => void) => void;
	/** Passes everything on again, what was held up too. */
	readonly letPass: () => void;
	/** Cuts every connection, with all that was held up. New ones pass. */
	readonly cut: () => void;
	readonly close: () => Promise<void>;
};

/** Opens one to a port of this machine, on a port of its own. */
export async function openProxy(serverPort: number): Promise<Proxy> {
	const sockets = new Set<Socket>();
	let passed = 0;
	let stop = Infinity;
	let meet: (() => void) | undefined;
	let held: Array<() => void> = [];

	const send = (deliver: () => void): void => {
		passed++;
		if (passed === stop) {
			meet?.();
		}

		if (passed >= stop) {
			held.push(deliver);
		} else {
			deliver();
		}
	};

	const pass = (from: Socket, to: Socket): void => {
		sockets.add(from);
		from.setNoDelay(true);
		from.on('data', (bytes) => {
			send(() => {
				to.write(bytes);
			});
		});
		from.on('error', () => undefined);
		from.on('close', () => {
			sockets.delete(from);
			// Behind what is held up; it is no message itself.
			const end = () => {
				to.destroy();
			};

			if (held.length > 0) {
				held.push(end);
			} else {
				end();
			}
		});
	};

	const server = createServer((client) => {
		const upstream = connect(serverPort, '127.0.0.1');
		pass(client, upstream);
		pass(upstream, client);
	}).listen(0, '127.0.0.1');
	await once(server, 'listening');

	const letPass = (): void => {
		stop = Infinity;
		const waiting = held;
		held = [];
		for (const deliver of waiting) {
			deliver();
		}
	};

	const cut = (): void => {
		stop = Infinity;
		held = [];
		for (const socket of sockets) {
			socket.destroy();
		}
	};

	return {
		port: (server.address() as AddressInfo).port,
		stopAt(number, met) {
			passed = 0;
			stop = number;
			meet = met;
		},
		letPass,
		cut,
		async close() {
			cut();
			server.close();
			await once(server, 'close');
		},
	};
}
