/**
Hears what others change, on a connection of its own.
*/
import type {Redis} from 'ioredis';
import type {StoreListener} from '../../core/ports.js';
import {decodeEvent} from '../codec.js';
import type {Endpoint} from './address.js';
import {Connection} from './connection.js';
import {eventChannel} from './keys.js';

/** A connection that died without a word is noticed this late, at most, plus the time of one command. */
const pingIntervalMs = 3000;

/**
Listens until told to stop.

@returns The way to stop, once listening.
*/
export async function subscribe(
	endpoint: Endpoint,
	{listener, patient}: {readonly listener: StoreListener; readonly patient: boolean},
): Promise<() => Promise<void>> {
	const connection = new Connection(endpoint, {
		patient,
		prepare: async (client: Redis) => client.subscribe(eventChannel),
		preparesFirst: true,
		lost(reason) {
			listener.lost?.(reason);
		},
		restored() {
			listener.restored?.();
		},
	});
	let isStopped = false;
	connection.client.on('message', (channel: string, message: string) => {
		// What was on its way when listening ended is not told.
		if (channel === eventChannel && !isStopped) {
			listener.changed(decodeEvent(message));
		}
	});
	await connection.open();
	const timer = setInterval(() => {
		// A failure is not for us: the connection has told the listener.
		connection.run(async (client) => client.ping(), {isRepeatable: false}).catch(() => undefined);
	}, pingIntervalMs);
	return async () => {
		isStopped = true;
		clearInterval(timer);
		connection.close();
	};
}
