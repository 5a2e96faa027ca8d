/** Subscribes to changes, on a separate connection. */
import type {Redis} from 'ioredis';
import type {Endpoint} from './address.js';
import {Connection} from './connection.js';
import {unreachableText} from './failures.js';

/** The longest time until a dead connection is noticed, plus the time of one command. */
const pingIntervalMs = 3000;

export type ChannelListener = {
	readonly heard: (message: string) => void;
	readonly lost?: (reason: string) => void;
	readonly restored?: () => void;
};

type Listening = {readonly channel: string; readonly listener: ChannelListener; readonly keepReconnecting: boolean};

/** Listens to a channel. Returns a function that stops listening, once the subscription is active. */
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
		// Drops a message that was under way when the subscription ended.
		if (from === channel && !isStopped) {
			listener.heard(message);
		}
	});
	await connection.open();
	const timer = setInterval(() => {
		// Failures are reported by the connection.
		connection.run(async (client) => client.ping(), {isRepeatable: false}).catch(() => undefined);
	}, pingIntervalMs);
	return async () => {
		isStopped = true;
		clearInterval(timer);
		connection.close();
	};
}
