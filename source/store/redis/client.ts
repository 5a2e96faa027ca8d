/** Configures ioredis so that it never sends a command twice and never queues one. */
import {Redis} from 'ioredis';
import type {Endpoint} from './address.js';
import {hasTimedOut} from './failures.js';

const connectTimeoutMs = 2500;
const commandTimeoutMs = 3000;

/** Before a command times out, reads answers that have already arrived, because this process may have had no CPU time to read them. */
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

/** Answers to AUTH of a server that has no password, or no users (Redis before 6). ioredis also continues, but writes a warning to the terminal. */
const unneeded = /no password is set|without any password configured|wrong number of arguments for 'auth'/v;

function acceptUnneededPassword(client: Redis, passwordUnneeded: () => void): Redis {
	const send = client.sendCommand.bind(client);
	client.sendCommand = (command, stream) => {
		const {name, reject} = command;
		command.reject = (error) => {
			if (name === 'auth' && unneeded.test(error.message)) {
				passwordUnneeded();
				command.resolve('OK');
			} else {
				reject(error);
			}
		};

		return send(command, stream);
	};

	return client;
}

type ClientHooks = {
	/** Returns the milliseconds until the given attempt to reconnect, or undefined to give up. */
	readonly retryDelay: (times: number) => number | undefined;
	/** Called if the server has no password, but one is configured. */
	readonly passwordUnneeded: () => void;
};

export const createClient = (endpoint: Endpoint, {retryDelay, passwordUnneeded}: ClientHooks): Redis => {
	const client = readBeforeGivingUp(
		new Redis({
			...endpoint.options,
			lazyConnect: true,
			// RESP 2 needs no handshake, so the first command is sent as soon as the connection exists.
			protocol: 2,
			disableClientInfo: true,
			enableReadyCheck: false,
			connectTimeout: connectTimeoutMs,
			disconnectTimeout: 100,
			commandTimeout: commandTimeoutMs,
			// If the connection is lost, pending commands are rejected and not sent again. The caller decides what to do.
			enableOfflineQueue: false,
			autoResendUnfulfilledCommands: false,
			maxRetriesPerRequest: 0,
			autoResubscribe: false,
			retryStrategy: retryDelay,
		}),
	);
	return acceptUnneededPassword(client, passwordUnneeded);
};
