import type {Redis} from 'ioredis';
import type {StoreCondition} from '../../core/model/ports.js';
import type {Connection} from './connection.js';
import {isCommandMissing} from './failures.js';
import {ask, textOf} from './replies.js';

/** Returns the answer of INFO. Empty if Redis does not have the command, or not for this account. */
async function infoText(client: Redis, section = 'default'): Promise<string> {
	try {
		return await client.info(section);
	} catch (error) {
		if (isCommandMissing(error)) {
			return '';
		}

		throw error;
	}
}

/** The minimum uptime of the server, and the id of its run. Each connection asks the server once, and then counts the uptime itself. */
export class Uptime {
	/** When the server started, in ms on this process's monotonic clock. Before the first answer, the time when this object was created. */
	#startedAt = performance.now();
	#run: string | undefined;

	get run(): string | undefined {
		return this.#run;
	}

	/** Asks the server for its uptime and run. Without an answer, the age of the connection is used as the minimum uptime. */
	async ask(client: Redis): Promise<void> {
		const asked = performance.now();
		this.#startedAt = asked;
		const information = await infoText(client, 'server');
		const seconds = /^uptime_in_seconds:(?<seconds>\d+)/mv.exec(information)?.groups?.['seconds'];
		this.#run = /^run_id:(?<run>\w+)/mv.exec(information)?.groups?.['run'];
		// The server computes its uptime from two times in whole seconds, so the true uptime may be almost a second less.
		this.#startedAt = asked - Math.max(0, Number(seconds ?? 0) - 1) * 1000;
	}

	seconds(): number {
		return (performance.now() - this.#startedAt) / 1000;
	}
}

export async function readCondition(connection: Connection): Promise<StoreCondition> {
	const text = await ask(connection, async (client) => infoText(client), textOf);
	const facts = new Map(text.split('\n').map((line) => line.trim().split(':', 2) as [string, string]));
	const version = facts.get('redis_version');
	const appendOnly = facts.get('aof_enabled');
	const policy = facts.get('maxmemory_policy');
	return {
		version: version === undefined ? undefined : `Redis ${version}`,
		isDurable: appendOnly === undefined ? undefined : appendOnly === '1',
		// Redis evicts no keys without a memory limit. The volatile policies evict only keys that expire, which reservations and the queue never do.
		evicts: policy === undefined ? undefined : facts.get('maxmemory') !== '0' && policy.startsWith('allkeys'),
		isPasswordUnneeded: connection.isPasswordUnneeded,
	};
}
