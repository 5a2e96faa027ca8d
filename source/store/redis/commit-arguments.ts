/**
Puts a plan into the KEYS and ARGV of commit.lua.
*/
import {Buffer} from 'node:buffer';
import type {Expectation} from '../../core/plan.js';
import {wireOf} from '../codec.js';
import {historySeconds, trimCount, type RawPlan, type RawWrite} from '../raw-plan.js';
import {commitKeys, entryKeyPrefix, eventChannel, gpuKeyPrefix} from './keys.js';

type Argument = string | number | Uint8Array;

type Arguments = {
	readonly keys: readonly Argument[];
	readonly values: readonly Argument[];
};

/** The key of an entry, whose id may be bytes that are no text. */
function entryKeyOf(id: string): Argument {
	const wire = wireOf(id);
	return typeof wire === 'string' ? `${entryKeyPrefix}${wire}` : Buffer.concat([Buffer.from(entryKeyPrefix), wire]);
}

/** Hands each key its place among KEYS, once. */
class Places {
	readonly #places = new Map<string, number>();
	readonly keys: Argument[] = [...commitKeys];

	#place(name: string, key: () => Argument): number {
		let place = this.#places.get(name);
		if (place === undefined) {
			this.keys.push(key());
			place = this.keys.length;
			this.#places.set(name, place);
		}

		return place;
	}

	gpu(index: number): number {
		return this.#place(`${gpuKeyPrefix}${index}`, () => `${gpuKeyPrefix}${index}`);
	}

	entry(id: string): number {
		return this.#place(`${entryKeyPrefix}${id}`, () => entryKeyOf(id));
	}
}

function expectationSteps(expectation: Expectation, places: Places): readonly Argument[] {
	switch (expectation.kind) {
		case 'gpu':
		case 'entry': {
			const place = expectation.kind === 'gpu' ? places.gpu(expectation.index) : places.entry(expectation.id);
			return expectation.raw === undefined ? ['absent', place] : ['same', place, wireOf(expectation.raw)];
		}

		case 'queue': {
			const {ids, extent} = expectation;
			return ['line', extent, ids.length, ...ids.map((id) => wireOf(id))];
		}

		case 'pool': {
			return ['size', expectation.gpuCount ?? ''];
		}
	}
}

function writeSteps(write: RawWrite, places: Places): readonly Argument[] {
	switch (write.kind) {
		case 'gpu': {
			const place = places.gpu(write.index);
			return write.raw === undefined ? ['delete', place] : ['set', place, write.raw];
		}

		case 'pool': {
			const {gpuCount, provider, machine} = write.pool;
			return ['pool', gpuCount ?? '', provider ?? '', machine ?? ''];
		}

		case 'join':
		case 'entry': {
			return [write.kind, places.entry(write.id), wireOf(write.id), write.raw];
		}

		case 'leave': {
			return ['leave', places.entry(write.id), wireOf(write.id)];
		}
	}
}

/**
True for a plan that asks the store for something new. Those are refused when its memory is full; what gives back, or keeps what
is held, is not.
*/
const asksForMore = ({grants, writes}: RawPlan): boolean =>
	grants || writes.some(({kind}) => kind === 'join' || kind === 'pool');

export function commitArguments(plan: RawPlan): Arguments {
	const places = new Places();
	const steps = [
		...plan.expect.flatMap((expectation) => expectationSteps(expectation, places)),
		...plan.writes.flatMap((write) => writeSteps(write, places)),
		...plan.usage.flatMap(({endSecond, raw}) => ['usage', endSecond, raw]),
	];
	const values = [
		plan.grants ? '1' : '0',
		asksForMore(plan) ? '1' : '0',
		eventChannel,
		plan.event ?? '',
		historySeconds,
		trimCount,
		...steps,
	];
	return {keys: places.keys, values};
}
