/**
Hears what others change, on a connection of its own.
*/
import type {Redis} from 'ioredis';
import type {Endpoint} from './address.js';
import {Connection} from './connection.js';
import {unreachableText} from './failures.js';

/** A connection that died without a word is noticed this late, at most, plus the time of one command. */
const pingIntervalMs = 3000;

export type ChannelListener = {
	readonly heard: (message: string) => void;
	readonly lost?: (reason: string) => void;
	readonly restored?: () => void;
};

type Listening = {readonly channel: string; readonly listener: ChannelListener; readonly keepReconnecting: boolean};

/**
Listens to a channel.

@returns A function that stops listening, once the subscription is active.
*/
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
		// A message that was on its way when listening ended is dropped.
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
