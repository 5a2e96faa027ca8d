/**
Copies the old history of the Go program, which has a key for each record: `canhazgpu:usage_history:TIME:USER:GPU`. SCAN finds the keys in small steps
that do not block other clients. Each batch is copied completely or not at all. The old keys are kept, because they belong to the Go program and expire.
*/
import {Buffer} from 'node:buffer';
import type {Redis} from 'ioredis';
import {decodeUsage, rawOf} from '../../records/index.js';
import type {Connection} from '../connection.js';
import {keys} from '../keys.js';
import {ask, bytesOf, listOf, optional} from '../replies.js';
import adoptLua from '../lua/adopt-usage.lua';

const oldKeys = 'canhazgpu:usage_history:*';
const scanCount = 200;

type Scripted = Redis & {
	readonly adoptUsage: (keyCount: number, ...values: ReadonlyArray<string | number | Uint8Array>) => Promise<number>;
};

function pageOf(reply: unknown) {
	const [next, found] = listOf(reply, (part) => part);
	return {next: rawOf(bytesOf(next)), found: listOf(found, bytesOf)};
}

/** Returns a function that copies the old history once and returns the number of copied records. */
export function createOldHistoryCopier(connection: Connection): () => Promise<number> {
	connection.client.defineCommand('adoptUsage', {lua: adoptLua});
	const run = async <Result>(send: (client: Scripted) => Promise<Result>): Promise<Result> =>
		connection.run(async (client) => send(client as Scripted), {isRepeatable: true});

	const copy = async (found: readonly Uint8Array[]): Promise<number> => {
		const values = await ask(
			connection,
			async (client) => client.mgetBuffer(found.map((key) => Buffer.from(key))),
			(reply) => listOf(reply, (value) => optional(value, bytesOf)),
		);
		const records = values.flatMap((value, index) => {
			const usage = value === undefined ? undefined : decodeUsage(rawOf(value));
			return usage === undefined ? [] : [{key: found[index]!, value: value!, score: Math.floor(usage.endTime)}];
		});
		return records.length === 0
			? 0
			: run(async (client) =>
					client.adoptUsage(
						records.length + 1,
						keys.history,
						...records.map(({key}) => key),
						...records.flatMap(({value, score}) => [value, score]),
					),
				);
	};

	return async () => {
		if ((await run(async (client) => client.exists(keys.oldHistoryMoved))) === 1) {
			return 0;
		}

		let copied = 0;
		let cursor = '0';
		do {
			const from = cursor;
			const {next, found} = await ask(
				connection,
				async (client) => client.scanBuffer(from, 'MATCH', oldKeys, 'COUNT', scanCount),
				pageOf,
			);
			cursor = next;
			copied += found.length === 0 ? 0 : await copy(found);
		} while (cursor !== '0');

		await run(async (client) => client.set(keys.oldHistoryMoved, '1'));
		return copied;
	};
}
