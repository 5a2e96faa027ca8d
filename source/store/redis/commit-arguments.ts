/**
Puts a plan into the KEYS and ARGV of commit.lua.
*/
import {Buffer} from 'node:buffer';
import type {Expectation} from '../../core/plan.js';
import {wireOf} from '../codec.js';
import {historySeconds, trimCount, type RawPlan, type RawWrite} from '../raw-plan.js';
import {auditCap} from '../decode-audit.js';
import {commitKeys, entryKeyPrefix, eventChannel, gpuKeyPrefix, keys} from './keys.js';

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

	/** Of a key that every script is given. */
	value(name: 'drains' | 'notices'): number {
		return commitKeys.indexOf(keys[name]) + 1;
	}

	gpu(index: number): number {
		return this.#place(`${gpuKeyPrefix}${index}`, () => `${gpuKeyPrefix}${index}`);
	}

	entry(id: string): number {
		return this.#place(`${entryKeyPrefix}${id}`, () => entryKeyOf(id));
	}
}

/** One step with a value, or another without one. */
const valueSteps = (
	[withValue, without]: readonly [withValue: string, without: string],
	place: number,
	raw: string | undefined,
): readonly Argument[] => (raw === undefined ? [without, place] : [withValue, place, wireOf(raw)]);

function expectationSteps(expectation: Expectation, places: Places): readonly Argument[] {
	switch (expectation.kind) {
		case 'gpu':
		case 'entry': {
			const place = expectation.kind === 'gpu' ? places.gpu(expectation.index) : places.entry(expectation.id);
			return valueSteps(['same', 'absent'], place, expectation.raw);
		}

		case 'queue': {
			const {ids, extent} = expectation;
			return ['line', extent, ids.length, ...ids.map((id) => wireOf(id))];
		}

		case 'pool': {
			return ['size', expectation.gpuCount ?? ''];
		}

		case 'drains':
		case 'notices': {
			return valueSteps(['same', 'absent'], places.value(expectation.kind), expectation.raw);
		}
	}
}

function writeSteps(write: RawWrite, places: Places): readonly Argument[] {
	switch (write.kind) {
		case 'gpu': {
			return valueSteps(['set', 'delete'], places.gpu(write.index), write.raw);
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

		case 'drains':
		case 'notices': {
			return valueSteps(['set', 'delete'], places.value(write.kind), write.raw);
		}
	}
}

/** Whether a write asks for more memory than what it replaces. */
function isMore(write: RawWrite, expect: RawPlan['expect']): boolean {
	switch (write.kind) {
		case 'join':
		case 'pool': {
			return true;
		}

		case 'drains':
		case 'notices': {
			const before = expect.find(({kind}) => kind === write.kind);
			const length = before !== undefined && 'raw' in before ? (before.raw?.length ?? 0) : 0;
			return (write.raw?.length ?? 0) > length;
		}

		case 'gpu':
		case 'entry':
		case 'leave': {
			return false;
		}
	}
}

/**
True for a plan that asks the store for something new. Those are refused when its memory is full; what gives back, or keeps what
is held, is not.
*/
const asksForMore = ({grants, expect, writes, usage}: RawPlan): boolean =>
	grants || writes.some((write) => isMore(write, expect)) || (writes.length === 0 && usage.length === 0);

export function commitArguments(plan: RawPlan): Arguments {
	const places = new Places();
	const steps = [
		...plan.expect.flatMap((expectation) => expectationSteps(expectation, places)),
		...plan.writes.flatMap((write) => writeSteps(write, places)),
		...plan.usage.flatMap(({endSecond, raw}) => ['usage', endSecond, raw]),
		...plan.audit.flatMap((raw) => ['audit', raw]),
	];
	const values = [
		plan.grants ? '1' : '0',
		asksForMore(plan) ? '1' : '0',
		eventChannel,
		plan.event ?? '',
		historySeconds,
		trimCount,
		auditCap,
		...steps,
	];
	return {keys: places.keys, values};
}
