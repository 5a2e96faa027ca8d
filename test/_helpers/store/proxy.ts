/** A proxy to a server that can hold up a chosen message, so that tests can act in the meantime. */
import {once} from 'node:events';
import {connect, createServer, type AddressInfo, type Socket} from 'node:net';

export type Proxy = {
	readonly port: number;
	/**
	Starts to count the messages in both directions on all connections, and holds up the message with this number and all that follow. Calls `meet`
	when that message arrives.
	*/
	readonly stopAt: (number: number, meet: () => void) => void;
	/** Passes on the messages that were held up, and all later ones. */
	readonly letPass: () => void;
	/** Closes every connection and drops the messages that were held up. New connections are accepted. */
	readonly cut: () => void;
	readonly close: () => Promise<void>;
};

/** Opens a proxy to a port of this machine, on a new port. */
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
			// Data after a message that is held up does not count as a message.
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
