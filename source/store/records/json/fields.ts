import {textOf} from './raw.js';
import {parseTime} from './time.js';

class RecordProblem extends Error {
	override readonly name = 'RecordProblem';
}

/** Maximum nesting of values. JSON.stringify, which writes unknown fields and shows invalid fields, would fail for extreme nesting. */
const deepest = 32;

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
	typeof value === 'object' && value !== null && !Array.isArray(value);

const isDeeperThan = (value: unknown, depth: number): boolean =>
	typeof value === 'object' &&
	value !== null &&
	(depth === 0 || Object.values(value).some((inner) => isDeeperThan(inner, depth - 1)));

function describe(value: unknown): string {
	// JSON.stringify fails for nesting that JSON.parse still supports.
	const text = isDeeperThan(value, deepest) ? 'nested too deeply' : (JSON.stringify(value) ?? String(value));
	return text.length > 40 ? `${text.slice(0, 40)}...` : text;
}

/** A JSON object, read field by field. `null`, an empty string and absence mean "not set". */
export class Fields {
	readonly #object: Readonly<Record<string, unknown>>;
	/** Names of the fields that were read. For so few names, a list is several times as fast as a set, and a report reads a million records. */
	readonly #asked: string[] = [];

	constructor(object: Readonly<Record<string, unknown>>) {
		this.#object = object;
	}

	#take(name: string): unknown {
		const value = this.#object[name];
		// Fast path: most fields are absent. `hasOwn` excludes inherited properties.
		if (value === undefined || !Object.hasOwn(this.#object, name)) {
			return undefined;
		}

		this.#asked.push(name);
		return value === null || value === '' ? undefined : value;
	}

	#fail(name: string, value: unknown, wanted: string): never {
		throw new RecordProblem(
			value === undefined ? `${name} is missing` : `${name} is ${describe(value)}, which is not ${wanted}`,
		);
	}

	/** Returns whether the field is a list with at least one item. Does not mark the field as read. */
	hasList(name: string): boolean {
		const value = Object.hasOwn(this.#object, name) ? this.#object[name] : undefined;
		return Array.isArray(value) && value.length > 0;
	}

	/** Marks a known field as read, but does not use its value. */
	ignore(name: string): void {
		this.#take(name);
	}

	text(name: string): string | undefined {
		const value = this.#take(name);
		return value === undefined || typeof value === 'string' ? value : this.#fail(name, value, 'a string');
	}

	/** Returns a time in seconds since the epoch, or undefined if not set. */
	time(name: string): number | undefined {
		const value = this.#take(name);
		const time = parseTime(value);
		return time === 'invalid' ? this.#fail(name, value, 'a time') : time;
	}

	/** Reads an end time. A time before 1970 makes the record invalid: people write -1 for "never", and must not lose a GPU. */
	end(name: string): number | undefined {
		const time = this.time(name);
		return time === undefined || time >= 0 ? time : this.#fail(name, time, 'a time');
	}

	quantity(name: string): number | undefined {
		const value = this.#take(name);
		const isQuantity = typeof value === 'number' && Number.isFinite(value) && value >= 0;
		return value === undefined || isQuantity ? value : this.#fail(name, value, 'a number');
	}

	whole(name: string): number | undefined {
		const value = this.quantity(name);
		return value === undefined || Number.isSafeInteger(value) ? value : this.#fail(name, value, 'a whole number');
	}

	integers(name: string): readonly number[] {
		const value = this.#take(name) ?? [];
		return Array.isArray(value) && value.every((item) => Number.isSafeInteger(item))
			? (value as number[])
			: this.#fail(name, value, 'a list of whole numbers');
	}

	/** Returns a list of lists of integers. Undefined if not set, which differs from an empty list. */
	integerLists(name: string): ReadonlyArray<readonly number[]> | undefined {
		const value = this.#take(name);
		const isLists =
			Array.isArray(value) &&
			value.every((list) => Array.isArray(list) && list.every((item) => Number.isSafeInteger(item)));
		return value === undefined || isLists ? value : this.#fail(name, value, 'a list of lists of whole numbers');
	}

	switch(name: string): boolean | undefined {
		const value = this.#take(name);
		return value === undefined || typeof value === 'boolean' ? value : this.#fail(name, value, 'true or false');
	}

	texts(name: string): readonly string[] {
		const value = this.#take(name) ?? [];
		return Array.isArray(value) && value.every((item) => typeof item === 'string')
			? value
			: this.#fail(name, value, 'a list of strings');
	}

	/** Returns true for `true`, and undefined for any other value. For fields that can be ignored if they are invalid. */
	flag(name: string): true | undefined {
		return this.#take(name) === true ? true : undefined;
	}

	/** Returns a string, or undefined for any other value. All methods `any...` ignore invalid values. */
	anyText(name: string): string | undefined {
		const value = this.#take(name);
		return typeof value === 'string' ? value : undefined;
	}

	anyList(name: string): readonly unknown[] {
		const value = this.#take(name);
		return Array.isArray(value) ? value : [];
	}

	object(name: string): Fields | undefined {
		const value = this.#take(name);
		return isObject(value) ? new Fields(value) : undefined;
	}

	anyNumber(name: string): number | undefined {
		const value = this.#take(name);
		return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
	}

	records<Value>(name: string, read: (fields: Fields) => Value): readonly Value[] {
		const value = this.#take(name) ?? [];
		return Array.isArray(value) && value.every((item) => isObject(item))
			? value.map((item) => read(new Fields(item)))
			: this.#fail(name, value, 'a list of JSON objects');
	}

	choice<Choice extends string>(name: string, choices: readonly Choice[]): Choice {
		const value = this.#take(name);
		return choices.find((choice) => choice === value) ?? this.#fail(name, value, choices.join(' or '));
	}

	/** Returns the value of a field. Throws if the field is not set. */
	required<Value>(name: string, value: Value | undefined): Value {
		return value ?? this.#fail(name, undefined, 'set');
	}

	rest(): Readonly<Record<string, unknown>> | undefined {
		const names = Object.keys(this.#object).filter((name) => !this.#asked.includes(name));
		if (names.length === 0) {
			return undefined;
		}

		const entries = names.map((name) => [name, this.#object[name]] as const);
		if (entries.some(([, value]) => isDeeperThan(value, deepest))) {
			throw new RecordProblem('it is nested too deeply');
		}

		// Assigning the fields one by one would make a field `__proto__` the prototype.
		return Object.fromEntries(entries);
	}
}

type Read<Value> = {readonly value: Value} | {readonly problem: string};

/** Reads one record. Never throws for stored values: `problem` describes what is wrong. */
export function readRecord<Value>(raw: string, read: (fields: Fields) => Value): Read<Value> {
	let object: unknown;
	try {
		object = JSON.parse(textOf(raw));
	} catch {
		return {problem: 'it is not JSON'};
	}

	if (!isObject(object)) {
		return {problem: 'it is not a JSON object'};
	}

	try {
		return {value: read(new Fields(object))};
	} catch (error) {
		if (error instanceof RecordProblem) {
			return {problem: error.message};
		}

		throw error;
	}
}

export function readIfSound<Value>(raw: string, read: (fields: Fields) => Value): Value | undefined {
	const result = readRecord(raw, read);
	return 'problem' in result ? undefined : result.value;
}
