import type {Redis} from 'ioredis';
import {longestScan, type ScanBoard} from '../../core/model/ports.js';
import {rawOf, textOf} from '../records/json/raw.js';
import {parsePosted} from '../posted-scan.js';
import type {Connection} from './connection.js';
import {keys, scanChannel} from './keys.js';
import claimLua from './lua/claim-scanner.lua';
import latestLua from './lua/latest-scan.lua';
import postLua from './lua/post-scan.lua';
import resignLua from './lua/resign-scanner.lua';
import {ask, bytesOf, integerOf, listOf, optional} from './replies.js';
import type {ChannelListener} from './subscription.js';

/** How long the last scan is kept if no viewer posts a newer one. Older scans are useless. */
const keptSeconds = 86_400;

type Scripted = Redis & {
	readonly claimScanner: (...values: ReadonlyArray<string | number>) => Promise<number>;
	readonly resignScanner: (...values: readonly string[]) => Promise<number>;
	readonly postScan: (...values: ReadonlyArray<string | number>) => Promise<number>;
	readonly latestScanBuffer: (...values: ReadonlyArray<string | number>) => Promise<unknown>;
};

type Listen = (channel: string, listener: ChannelListener) => Promise<() => Promise<void>>;

export function createScanBoard(connection: Connection, listen: Listen): ScanBoard {
	const {client} = connection;
	client.defineCommand('claimScanner', {lua: claimLua, numberOfKeys: 1});
	client.defineCommand('resignScanner', {lua: resignLua, numberOfKeys: 1});
	client.defineCommand('postScan', {lua: postLua, numberOfKeys: 2});
	client.defineCommand('latestScan', {lua: latestLua, numberOfKeys: 1});
	const run = async <Result>(send: (scripted: Scripted) => Promise<Result>): Promise<Result> =>
		connection.run(async (redis) => send(redis as Scripted), {isRepeatable: true});

	return {
		async claim({owner, intervalMs}, seconds) {
			const milliseconds = Math.ceil(seconds * 1000);
			return (await run(async (redis) => redis.claimScanner(keys.scanner, owner, intervalMs, milliseconds))) === 1;
		},
		async resign(owner) {
			await run(async (redis) => redis.resignScanner(keys.scanner, owner));
		},
		async post(owner, text) {
			return (
				(await run(async (redis) => redis.postScan(keys.scanner, keys.scan, owner, text, keptSeconds, scanChannel))) ===
				1
			);
		},
		async latest() {
			// The limit has some room for the time before the text. A longer value is cut off, which makes it invalid.
			return ask(
				connection,
				async (redis) => (redis as Scripted).latestScanBuffer(keys.scan, 4 * longestScan),
				(reply) => {
					const [seconds, microseconds, posted] = listOf(reply, (part) => part);
					const bytes = optional(posted, bytesOf);
					const now = integerOf(seconds) + integerOf(microseconds) / 1e6;
					return parsePosted(bytes && textOf(rawOf(bytes)), now);
				},
			);
		},
		subscribe: async (posted) =>
			listen(scanChannel, {
				heard() {
					posted();
				},
				restored() {
					posted();
				},
			}),
	};
}
