/** The load history, with one key per hour. The keys expire even if no process writes to the history any longer. */
import type {Redis} from 'ioredis';
import {loadHours, longestLoadHour, type LoadHistory} from '../../../core/model/ports.js';
import {hoursBetween} from '../../load-hours.js';
import {rawOf, textOf} from '../../records/json/raw.js';
import type {Connection} from '../connection.js';
import {loadKeyPrefix} from '../keys.js';
import appendLua from '../lua/append-load.lua';
import readLua from '../lua/read-loads.lua';
import {ask, bytesOf, listOf, optional} from '../replies.js';

const keptSeconds = loadHours * 3600;

type Scripted = Redis & {
	readonly appendLoad: (...values: ReadonlyArray<string | number>) => Promise<number>;
	readonly readLoadsBuffer: (...values: ReadonlyArray<string | number>) => Promise<unknown>;
};

export function createLoadHistory(connection: Connection): LoadHistory {
	const {client} = connection;
	client.defineCommand('appendLoad', {lua: appendLua, numberOfKeys: 1});
	client.defineCommand('readLoads', {lua: readLua});
	return {
		async append(hour, line) {
			await connection.run(
				async (redis) =>
					(redis as Scripted).appendLoad(`${loadKeyPrefix}${hour}`, `${line}\n`, keptSeconds, longestLoadHour),
				// Not repeatable, because a line that is added twice would be counted twice.
				{isRepeatable: false},
			);
		},
		async read(fromHour, toHour) {
			const hours = hoursBetween(fromHour, toHour);
			if (hours.length === 0) {
				return new Map();
			}

			const texts = await ask(
				connection,
				async (redis) =>
					(redis as Scripted).readLoadsBuffer(
						hours.length,
						...hours.map((hour) => `${loadKeyPrefix}${hour}`),
						longestLoadHour,
					),
				(reply) => listOf(reply, (part) => optional(part, (bytes) => textOf(rawOf(bytesOf(bytes))))),
			);
			return new Map(
				hours.flatMap((hour, index) => {
					const text = texts[index] ?? '';
					return text === '' ? [] : [[hour, text] as const];
				}),
			);
		},
	};
}
