import type {Redis} from 'ioredis';
import type {Endpoint} from './address.js';
import {Connection} from './connection.js';
import {unreachableText} from './failures.js';

/** Time between two PINGs. A dead connection is noticed within this time plus the time limit of one command. */
const pingIntervalMs = 3000;

export type ChannelListener = {
	readonly heard: (message: string) => void;
	readonly lost?: (reason: string) => void;
	readonly restored?: () => void;
};

type Listening = {readonly channel: string; readonly listener: ChannelListener; readonly keepReconnecting: boolean};

/** Listens to a channel. Resolves when the subscription is active, with a function that unsubscribes. */
export async function subscribe(
	endpoint: Endpoint,
	{channel, listener, keepReconnecting}: Listening,
): Promise<() => Promise<void>> {
	const connection = new Connection(endpoint, {
		keepReconnecting,
		prepare: async (client: Redis) => client.subscribe(channel),
		preparesFirst: true,
		lost(reason) {
			listener.lost?.(unreachableText(endpoint, reason));
		},
		restored() {
			listener.restored?.();
		},
	});
	let isStopped = false;
	connection.client.on('message', (from: string, message: string) => {
		if (from === channel && !isStopped) {
			listener.heard(message);
		}
	});
	await connection.open();
	const timer = setInterval(() => {
		// The result is not needed, because the connection reports failures itself.
		connection.run(async (client) => client.ping(), {isRepeatable: false}).catch(() => undefined);
	}, pingIntervalMs);
	return async () => {
		isStopped = true;
		clearInterval(timer);
		connection.close();
	};
}
