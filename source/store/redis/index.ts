/** The pool in Redis, which the Go program can use at the same time. Each read and each commit is a single script, which needs one round trip. */
import type {Redis} from 'ioredis';
import type {CommitOutcome, Store} from '../../core/model/ports.js';
import {CanhazgpuError} from '../../errors.js';
import {decodeEvent, earlyProvider, rawOf} from '../records/index.js';
import {decodeHistory} from '../decode-history.js';
import {encodePlan} from '../raw-plan.js';
import {decodeEntry, decodeSnapshot} from '../raw-snapshot.js';
import {endpointOf, type RedisAddress} from './address.js';
import {commitArguments} from './commit-arguments.js';
import {Connection} from './connection.js';
import {readPages} from './history/history.js';
import {readAuditLog} from './history/audit-log.js';
import {createJobReader} from './jobs.js';
import {entryKeyPrefix, eventChannel, keys} from './keys.js';
import commitLua from './lua/commit.lua';
import readLua from './lua/read.lua';
import {createOldHistoryCopier} from './history/old-history.js';
import {parseReadReply, readArguments} from './read-reply.js';
import {ask, bytesOf, optional, wordOf} from './replies.js';
import {createLoadHistory} from './history/load-history.js';
import {createScanBoard} from './scan-board.js';
import {readingScript, withConstants} from './script.js';
import {subscribe, type ChannelListener} from './subscription.js';
import {readCondition, Uptime} from './server-info.js';

export type RedisStoreOptions = RedisAddress & {
	/** Whether to reconnect forever, as for a monitor or a running job. Otherwise the store gives up soon, because a user waits for the command. */
	readonly keepReconnecting: boolean;
};

type Scripted = Redis & {
	readonly readPoolBuffer: (...values: ReadonlyArray<string | number>) => Promise<unknown>;
	readonly commitPlan: (...values: ReadonlyArray<string | number | Uint8Array>) => Promise<CommitOutcome>;
};

const outcomes: readonly CommitOutcome[] = ['done', 'conflict', 'locked'];

/** Connects to a pool in Redis. Throws `store-unreachable` within about 5 s, `store-refused` for a missing database, `config` for an invalid URL. */
export async function openRedisStore({keepReconnecting, ...address}: RedisStoreOptions): Promise<Store> {
	const endpoint = endpointOf(address);
	const uptime = new Uptime();
	const connection = new Connection(endpoint, {
		keepReconnecting,
		prepare: async (client) => uptime.ask(client),
		preparesFirst: false,
	});
	connection.client.defineCommand('readPool', {lua: readingScript(readLua)});
	connection.client.defineCommand('commitPlan', {lua: withConstants(commitLua)});
	await connection.open();
	const subscriptions = new Set<() => Promise<void>>();
	const listen = async (channel: string, listener: ChannelListener): Promise<() => Promise<void>> => {
		const stop = await subscribe(endpoint, {channel, listener, keepReconnecting});
		subscriptions.add(stop);
		return async () => {
			subscriptions.delete(stop);
			await stop();
		};
	};

	return {
		kind: 'redis',
		location: endpoint.location,
		shell: endpoint.shell,
		async read(options = {}) {
			const read = await ask(
				connection,
				async (client) => (client as Scripted).readPoolBuffer(...readArguments(options)),
				(reply) => parseReadReply(reply, endpoint),
			);
			if (typeof read.pool.gpuCount === 'string' && read.pool.provider === undefined) {
				// Old pools of the Go program have no key for the provider. Adds the key. A client with read-only access can still read the pool without it.
				await connection.client.setnx(keys.provider, earlyProvider).catch(() => undefined);
			}

			const raw = {...read, storeUptimeSeconds: uptime.seconds(), run: uptime.run};
			return decodeSnapshot(raw, options.user);
		},
		async readEntry(id) {
			try {
				return await ask(
					connection,
					async (client) => client.getBuffer(`${entryKeyPrefix}${id}`),
					(reply) => {
						const raw = optional(reply, bytesOf);
						return decodeEntry(id, raw && rawOf(raw));
					},
				);
			} catch (error) {
				// The caller must know if the store is unreachable. After any other error, such as an entry that is no string, the caller reads the whole pool.
				if (error instanceof CanhazgpuError && error.code === 'store-unreachable') {
					throw error;
				}

				return undefined;
			}
		},
		readJobs: createJobReader(connection),
		async commit(plan) {
			const raw = encodePlan(plan);
			return ask(
				connection,
				async (client) => {
					// Computed for each attempt, because the arguments contain the id of the server's run, which can change.
					const {keys: used, values} = commitArguments(raw, uptime.run ?? '');
					return (client as Scripted).commitPlan(used.length, ...used, ...values);
				},
				(reply) => wordOf(reply, outcomes),
				false,
			);
		},
		async subscribe(listener) {
			return listen(eventChannel, {
				...listener,
				heard(message) {
					listener.changed(decodeEvent(message));
				},
			});
		},
		history(fromTime, toTime) {
			return decodeHistory(() => readPages(connection, fromTime, toTime), fromTime, toTime);
		},
		async audit(query = {}) {
			return readAuditLog(connection, query);
		},
		takeOverHistory: createOldHistoryCopier(connection),
		inspect: async () => readCondition(connection),
		scans: createScanBoard(connection, listen),
		loads: createLoadHistory(connection),
		async close() {
			await Promise.all([...subscriptions].map(async (stop) => stop()));
			connection.close();
		},
	};
}
