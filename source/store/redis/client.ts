/**
Ioredis, set up so that nothing is sent twice and nothing waits unseen.
*/
import {Redis} from 'ioredis';
import type {Endpoint} from './address.js';

const connectTimeoutMs = 2500;
const commandTimeoutMs = 3000;

/**
@param endpoint - Where to connect to, once `connect` is called.
@param retryDelay - Milliseconds until the given attempt to reconnect; undefined to give up.
*/
export const createClient = (endpoint: Endpoint, retryDelay: (times: number) => number | undefined): Redis =>
	new Redis({
		...endpoint.options,
		lazyConnect: true,
		// RESP 2 needs no greeting: the first command goes out with the connection.
		protocol: 2,
		disableClientInfo: true,
		enableReadyCheck: false,
		connectTimeout: connectTimeoutMs,
		disconnectTimeout: 100,
		commandTimeout: commandTimeoutMs,
		// A command whose connection is lost is rejected at once and never sent again; the caller knows what to do.
		enableOfflineQueue: false,
		autoResendUnfulfilledCommands: false,
		maxRetriesPerRequest: 0,
		autoResubscribe: false,
		retryStrategy: retryDelay,
	});
