/** Reads the server's description, if this account is allowed to. */
import type {Redis} from 'ioredis';
import type {StoreCondition} from '../../core/model/ports.js';
import type {Connection} from './connection.js';
import {ask, textOf} from './replies.js';

/** An empty text where this account may not ask. */
async function infoText(client: Redis, section = 'default'): Promise<string> {
	try {
		return await client.info(section);
	} catch (error) {
		if (error instanceof Error && error.message.startsWith('NOPERM')) {
			return '';
		}

		throw error;
	}
}

/** How long the server has been up, at least, and which run of it this is. Asked once a connection; the rest is counted here. */
export class Uptime {
	/** When the server started, in ms on our monotonic clock. Until it is asked: it has been up as long as we know of it. */
	#startedAt = performance.now();
	#run: string | undefined;

	/** Names this run of the server; undefined where it may not say, or was not asked yet. */
	get run(): string | undefined {
		return this.#run;
	}

	/** A server that may not say has been up since this connection, at least. */
	async ask(client: Redis): Promise<void> {
		const asked = performance.now();
		this.#startedAt = asked;
		const information = await infoText(client, 'server');
		const seconds = /^uptime_in_seconds:(?<seconds>\d+)/mv.exec(information)?.groups?.['seconds'];
		this.#run = /^run_id:(?<run>\w+)/mv.exec(information)?.groups?.['run'];
		// The difference of two times that were cut to whole seconds: the server may have been up for almost a second less.
		this.#startedAt = asked - Math.max(0, Number(seconds ?? 0) - 1) * 1000;
	}

	seconds(): number {
		return (performance.now() - this.#startedAt) / 1000;
	}
}

/** Empty if this account is not allowed to ask. */
export async function readCondition(connection: Connection): Promise<StoreCondition> {
	const text = await ask(connection, async (client) => infoText(client), textOf);
	const facts = new Map(text.split('\n').map((line) => line.trim().split(':', 2) as [string, string]));
	const version = facts.get('redis_version');
	const appendOnly = facts.get('aof_enabled');
	const policy = facts.get('maxmemory_policy');
	return {
		version: version === undefined ? undefined : `Redis ${version}`,
		isDurable: appendOnly === undefined ? undefined : appendOnly === '1',
		// Redis never evicts keys if it has no memory limit.
		evicts: policy === undefined ? undefined : facts.get('maxmemory') !== '0' && policy !== 'noeviction',
	};
}
