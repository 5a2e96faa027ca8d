/**
Ioredis, set up so that nothing is sent twice and nothing waits unseen.
*/
import {Redis} from 'ioredis';
import type {Endpoint} from './address.js';
import {hasTimedOut} from './failures.js';

const connectTimeoutMs = 2500;
const commandTimeoutMs = 3000;

/** Reads what has come before it gives a command up: this process may have had no processor for as long as an answer may take. */
function readBeforeGivingUp(client: Redis): Redis {
	const send = client.sendCommand.bind(client);
	client.sendCommand = (command, stream) => {
		const {reject} = command;
		command.reject = (error) => {
			if (hasTimedOut(error)) {
				setImmediate(reject, error);
			} else {
				reject(error);
			}
		};

		return send(command, stream);
	};

	return client;
}

/**
@param endpoint - Where to connect to, once `connect` is called.
@param retryDelay - Milliseconds until the given attempt to reconnect; undefined to give up.
*/
export const createClient = (endpoint: Endpoint, retryDelay: (times: number) => number | undefined): Redis =>
	readBeforeGivingUp(
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
		}),
	);
