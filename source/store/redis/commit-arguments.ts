import {Buffer} from 'node:buffer';
import type {Expectation} from '../../core/model/plan.js';
import {wireOf} from '../records/index.js';
import type {RawPlan, RawWrite} from '../raw-plan.js';
import {changeKeyPrefix, entryKeyPrefix, gpuKeyPrefix, jobKeyPrefix, keys} from './keys.js';

type Argument = string | number | Uint8Array;

type Arguments = {
	readonly keys: readonly Argument[];
	readonly values: readonly Argument[];
};

/** The KEYS of a script. Each key gets one position, starting at 1. */
class KeyList {
	readonly #positions = new Map<string, number>();
	readonly keys: Argument[] = [];

	value(name: 'gpuCount' | 'machine' | 'drains' | 'alerts' | 'policy' | 'revision' | 'jobs'): number {
		return this.#at(keys[name]);
	}

	gpu(index: number): number {
		return this.#at(`${gpuKeyPrefix}${index}`);
	}

	job(number: number): number {
		return this.#at(`${jobKeyPrefix}${number}`);
	}

	change(id: string): number {
		return this.#at(`${changeKeyPrefix}${id}`);
	}

	/** Adds the key of a queue entry, and returns its position. The id can contain bytes that are not UTF-8. */
	entry(id: string): number {
		const wire = wireOf(id);
		return typeof wire === 'string'
			? this.#at(`${entryKeyPrefix}${wire}`)
			: this.#at(`${entryKeyPrefix}${id}`, Buffer.concat([Buffer.from(entryKeyPrefix), wire]));
	}

	#at(name: string, key: Argument = name): number {
		const known = this.#positions.get(name);
		if (known !== undefined) {
			return known;
		}

		this.keys.push(key);
		this.#positions.set(name, this.keys.length);
		return this.keys.length;
	}
}

const valueSteps = (
	[withValue, without]: readonly [withValue: string, without: string],
	position: number,
	raw: string | undefined,
): readonly Argument[] => (raw === undefined ? [without, position] : [withValue, position, wireOf(raw)]);

function positionOf(expectation: Exclude<Expectation, {readonly kind: 'queue'}>, keyList: KeyList): number {
	switch (expectation.kind) {
		case 'gpu': {
			return keyList.gpu(expectation.index);
		}

		case 'entry': {
			return keyList.entry(expectation.id);
		}

		case 'pool': {
			return keyList.value('gpuCount');
		}

		case 'job': {
			return keyList.job(expectation.number);
		}

		case 'machine':
		case 'drains':
		case 'alerts':
		case 'policy':
		case 'jobs':
		case 'revision': {
			return keyList.value(expectation.kind);
		}
	}
}

type Expected = {
	readonly values: readonly Argument[];
	readonly absent: readonly Argument[];
	readonly steps: readonly Argument[];
};

/** Divides the preconditions into those about values, which the script reads with one command, and those about the queue. */
function expectedOf({expect, change}: RawPlan, keyList: KeyList): Expected {
	const values: Argument[] = [];
	const absent: Argument[] = change === undefined ? [] : [keyList.change(change.id)];
	const steps: Argument[] = [];
	for (const expectation of expect) {
		if (expectation.kind === 'queue') {
			const {ids, scope} = expectation;
			steps.push('line', scope, ids.length, ...ids.map((id) => wireOf(id)));
			continue;
		}

		const position = positionOf(expectation, keyList);
		const value = expectation.kind === 'pool' ? expectation.gpuCount?.toString() : expectation.raw;
		if (value === undefined) {
			absent.push(position);
		} else {
			values.push(position, wireOf(value));
		}
	}

	return {values, absent, steps};
}

function writeSteps(write: RawWrite, keyList: KeyList): readonly Argument[] {
	switch (write.kind) {
		case 'gpu': {
			return valueSteps(['set', 'delete'], keyList.gpu(write.index), write.raw);
		}

		case 'pool': {
			const {gpuCount, provider, machine} = write.pool;
			return ['pool', gpuCount ?? '', provider ?? '', machine ?? ''];
		}

		case 'join': {
			const {id, raw, atMicroseconds} = write;
			return atMicroseconds === undefined
				? ['join', keyList.entry(id), wireOf(id), raw]
				: ['rejoin', keyList.entry(id), wireOf(id), raw, `${atMicroseconds}000`];
		}

		case 'entry': {
			return ['entry', keyList.entry(write.id), wireOf(write.id), write.raw];
		}

		case 'restored': {
			return ['restored', write.count];
		}

		case 'leave': {
			return ['leave', keyList.entry(write.id), wireOf(write.id)];
		}

		case 'job': {
			return valueSteps(['set', 'delete'], keyList.job(write.number), write.raw);
		}

		case 'drains':
		case 'alerts':
		case 'policy':
		case 'jobs': {
			return valueSteps(['set', 'delete'], keyList.value(write.kind), write.raw);
		}
	}
}

function isMore(write: RawWrite, expect: RawPlan['expect']): boolean {
	switch (write.kind) {
		case 'join':
		case 'pool': {
			return true;
		}

		case 'job': {
			return expect.every((each) => !(each.kind === 'job' && each.number === write.number) || each.raw === undefined);
		}

		case 'drains':
		case 'alerts':
		case 'policy':
		case 'jobs': {
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

/** Whether a plan needs additional memory. If the store's memory is full, such plans are refused and all others are executed. */
const asksForMore = ({grants, expect, writes, usage}: RawPlan): boolean =>
	grants || writes.some((write) => isMore(write, expect)) || (writes.length === 0 && usage.length === 0);

/** Returns the arguments of commit.lua. `run` is the id of the server's current run, or empty if unknown. */
export function commitArguments(plan: RawPlan, run: string): Arguments {
	const keyList = new KeyList();
	const {change} = plan;
	const expected = expectedOf(plan, keyList);
	const steps = [
		expected.values.length / 2,
		...expected.values,
		expected.absent.length,
		...expected.absent,
		...(change === undefined ? [] : ['once', keyList.change(change.id), change.attempt]),
		...expected.steps,
		...plan.writes.flatMap((write) => writeSteps(write, keyList)),
		...plan.usage.flatMap(({endSecond, raw, gpuId, endTime, user}) => [
			'usage',
			endSecond,
			raw,
			gpuId ?? '',
			endTime,
			user,
		]),
		...plan.audit.flatMap((raw) => ['audit', raw]),
	];
	const values = [plan.grants ? '1' : '0', asksForMore(plan) ? '1' : '0', plan.event ?? '', run, ...steps];
	return {keys: keyList.keys, values};
}
