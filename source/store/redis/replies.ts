/** Checks the answers of a server before they are used, because the server at this port may not be Redis. */
import type {Redis} from 'ioredis';
import type {Connection} from './connection.js';
import {strangeAnswer} from './failures.js';

/** An answer that no Redis sends. */
export class WrongShape extends Error {}

export function integerOf(reply: unknown): number {
	if (!Number.isSafeInteger(reply)) {
		throw new WrongShape('no integer');
	}

	return reply as number;
}

export function textOf(reply: unknown): string {
	if (typeof reply !== 'string') {
		throw new WrongShape('no text');
	}

	return reply;
}

export function bytesOf(reply: unknown): Uint8Array {
	if (!(reply instanceof Uint8Array)) {
		throw new WrongShape('no bytes');
	}

	return reply;
}

export const optional = <Item>(reply: unknown, itemOf: (reply: unknown) => Item): Item | undefined =>
	reply === null || reply === undefined ? undefined : itemOf(reply);

export function listOf<Item>(reply: unknown, itemOf: (reply: unknown) => Item): readonly Item[] {
	if (!Array.isArray(reply)) {
		throw new WrongShape('no list');
	}

	return reply.map((item) => itemOf(item));
}

/** Returns the answer of a script. Throws WrongShape if the answer is not one of these words. */
export function wordOf<Word extends string>(reply: unknown, words: readonly Word[]): Word {
	const word = words.find((each) => each === reply);
	if (word === undefined) {
		throw new WrongShape('no word of ours');
	}

	return word;
}

/** Sends a command like {@link Connection.run}, and reads the answer with `parse`. Throws `store-unreachable` for an answer that no Redis sends. */
export async function ask<Result>(
	connection: Connection,
	send: (client: Redis) => Promise<unknown>,
	parse: (reply: unknown) => Result,
	isRepeatable = true,
): Promise<Result> {
	const reply = await connection.run(send, {isRepeatable});
	try {
		return parse(reply);
	} catch (error) {
		throw error instanceof WrongShape ? strangeAnswer(connection.endpoint) : error;
	}
}
