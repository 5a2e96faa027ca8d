/**
Puts a plan into the KEYS and ARGV of commit.lua.
*/
import {Buffer} from 'node:buffer';
import type {Expectation} from '../../core/model/plan.js';
import {wireOf} from '../records/index.js';
import {
	changeSeconds,
	historySeconds,
	historyWindowSeconds,
	trimCount,
	type RawPlan,
	type RawWrite,
} from '../raw-plan.js';
import {auditCap} from '../decode-audit.js';
import {changeKeyPrefix, commitKeys, entryKeyPrefix, eventChannel, gpuKeyPrefix, keys} from './keys.js';

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
	value(name: 'gpuCount' | 'drains' | 'notices' | 'policy' | 'revision'): number {
		return commitKeys.indexOf(keys[name]) + 1;
	}

	gpu(index: number): number {
		return this.#place(`${gpuKeyPrefix}${index}`, () => `${gpuKeyPrefix}${index}`);
	}

	change(id: string): number {
		return this.#place(`${changeKeyPrefix}${id}`, () => `${changeKeyPrefix}${id}`);
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

/** The place of the key that holds what is expected. */
function placeOf(expectation: Exclude<Expectation, {readonly kind: 'queue'}>, places: Places): number {
	switch (expectation.kind) {
		case 'gpu': {
			return places.gpu(expectation.index);
		}

		case 'entry': {
			return places.entry(expectation.id);
		}

		case 'pool': {
			return places.value('gpuCount');
		}

		case 'drains':
		case 'notices':
		case 'policy':
		case 'revision': {
			return places.value(expectation.kind);
		}
	}
}

type Expected = {
	/** Pairs of a key's place and its value. */
	readonly values: readonly Argument[];
	readonly absent: readonly Argument[];
	readonly steps: readonly Argument[];
};

/** Sorts what is expected into what is read at once, and the queue. */
function expectedOf({expect, change}: RawPlan, places: Places): Expected {
	const values: Argument[] = [];
	const absent: Argument[] = change === undefined ? [] : [places.change(change.id)];
	const steps: Argument[] = [];
	for (const expectation of expect) {
		if (expectation.kind === 'queue') {
			const {ids, extent} = expectation;
			steps.push('line', extent, ids.length, ...ids.map((id) => wireOf(id)));
			continue;
		}

		const place = placeOf(expectation, places);
		const value = expectation.kind === 'pool' ? expectation.gpuCount?.toString() : expectation.raw;
		if (value === undefined) {
			absent.push(place);
		} else {
			values.push(place, wireOf(value));
		}
	}

	return {values, absent, steps};
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

		case 'join': {
			const {id, raw, atMicroseconds} = write;
			return atMicroseconds === undefined
				? ['join', places.entry(id), wireOf(id), raw]
				: ['rejoin', places.entry(id), wireOf(id), raw, `${atMicroseconds}000`];
		}

		case 'entry': {
			return ['entry', places.entry(write.id), wireOf(write.id), write.raw];
		}

		case 'restored': {
			return ['restored', write.count];
		}

		case 'leave': {
			return ['leave', places.entry(write.id), wireOf(write.id)];
		}

		case 'drains':
		case 'notices':
		case 'policy': {
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
		case 'notices':
		case 'policy': {
			const before = expect.find(({kind}) => kind === write.kind);
			const length = before !== undefined && 'raw' in before ? (before.raw?.length ?? 0) : 0;
			return (write.raw?.length ?? 0) > length;
		}

		case 'gpu':
		case 'entry':
		case 'leave':
		case 'restored': {
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

/**
@param run - Names the present run of the server; empty when that is not known.
*/
export function commitArguments(plan: RawPlan, run: string): Arguments {
	const places = new Places();
	const {change} = plan;
	const expected = expectedOf(plan, places);
	const steps = [
		expected.values.length / 2,
		...expected.values,
		expected.absent.length,
		...expected.absent,
		...(change === undefined ? [] : ['once', places.change(change.id), change.attempt, changeSeconds]),
		...expected.steps,
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
		run,
		historyWindowSeconds,
		...steps,
	];
	return {keys: places.keys, values};
}
