/** Configures ioredis to send nothing twice and to queue nothing. */
import {Redis} from 'ioredis';
import type {Endpoint} from './address.js';
import {hasTimedOut} from './failures.js';

const connectTimeoutMs = 2500;
const commandTimeoutMs = 3000;

/** Reads pending answers before a command times out, because this process may have had no CPU for that long. */
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

/** `retryDelay` returns the milliseconds until the given attempt to reconnect, or undefined to give up. */
export const createClient = (endpoint: Endpoint, retryDelay: (times: number) => number | undefined): Redis =>
	readBeforeGivingUp(
		new Redis({
			...endpoint.options,
			lazyConnect: true,
			// RESP 2 needs no handshake: the first command is sent on connection.
			protocol: 2,
			disableClientInfo: true,
			enableReadyCheck: false,
			connectTimeout: connectTimeoutMs,
			disconnectTimeout: 100,
			commandTimeout: commandTimeoutMs,
			// A command whose connection is lost is rejected at once and never sent again. The caller decides what to do.
			enableOfflineQueue: false,
			autoResendUnfulfilledCommands: false,
			maxRetriesPerRequest: 0,
			autoResubscribe: false,
			retryStrategy: retryDelay,
		}),
	);
