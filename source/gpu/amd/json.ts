/** Parses `--json` of amd-smi and rocm-smi. Versions write quantities as `{"value": 91, "unit": "%"}`, `91`, `"91"`, `"91 %"` or `"N/A"`. */
import {cap} from '../tool/text.js';

export type JsonObject = Readonly<Record<string, unknown>>;

export const isObject = (value: unknown): value is JsonObject =>
	typeof value === 'object' && value !== null && !Array.isArray(value);

/** The factor of each unit. AMD's `MB` are MiB. */
const units = {
	memory: {
		B: 1 / 2 ** 20,
		KB: 1 / 1024,
		KiB: 1 / 1024,
		MB: 1,
		MiB: 1,
		GB: 1024,
		GiB: 1024,
		TB: 2 ** 20,
		TiB: 2 ** 20,
	},
	percent: {'%': 1},
	temperature: {C: 1, '°C': 1},
	power: {W: 1, mW: 0.001, uW: 0.000001},
	clock: {MHz: 1, Mhz: 1, GHz: 1000, KHz: 0.001, Hz: 0.000001},
	count: {},
} as const satisfies Readonly<Record<string, Readonly<Record<string, number>>>>;

export type Quantity = keyof typeof units;

/** The largest value that counts as a reading. A missing sensor may report 65535 or 4294967295. */
const largest: Readonly<Record<Quantity, number>> = {
	memory: 2 ** 30,
	percent: 100,
	temperature: 300,
	power: 20_000,
	clock: 20_000,
	count: 1_000_000_000,
};

type ReadQuantity = {readonly kind: 'number'; readonly value: number} | {readonly kind: 'word'; readonly word: string};

/** Reads a quantity in MiB, percent, °C, W or MHz. Undefined if not reported. Any other text is a word. `plainUnit` is the unit of a bare number. */
export const readQuantity = (raw: unknown, quantity: Quantity, plainUnit = ''): ReadQuantity | undefined => {
	if (raw === undefined || raw === null) {
		return undefined;
	}

	const {value, unit} = isObject(raw) ? raw : {value: raw, unit: undefined};
	const [number, writtenUnit] = splitUnit(value);
	const word: ReadQuantity = {kind: 'word', word: cap(wordsFor(value, unit), 100)};
	if (number === undefined) {
		return word;
	}

	const name = [writtenUnit, typeof unit === 'string' ? unit.trim() : ''].find((one) => one !== '') ?? plainUnit;
	const factor = name === '' ? 1 : (units[quantity] as Readonly<Record<string, number>>)[name];
	const amount = factor === undefined ? undefined : number * factor;
	return amount === undefined || amount > largest[quantity] ? word : {kind: 'number', value: tidy(amount, quantity)};
};

/** Returns the text of a value that is not a reading, such as `-1 MB`. */
const wordsFor = (value: unknown, unit: unknown): string => {
	const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
	return typeof unit === 'string' && typeof value === 'number' ? `${text} ${unit}` : text;
};

const splitUnit = (value: unknown): readonly [number: number | undefined, unit: string] => {
	if (typeof value === 'number') {
		return [Number.isFinite(value) && value >= 0 ? value : undefined, ''];
	}

	const {number, unit = ''} =
		typeof value === 'string'
			? (/^(?<number>\d{1,16}(?:\.\d{1,9})?) ?(?<unit>[%A-Za-z°]{0,4})$/v.exec(value.trim())?.groups ?? {})
			: {};
	return [number === undefined ? undefined : Number(number), unit];
};

/** Rounds memory to whole MiB, like NVIDIA's tool, and other quantities to hundredths. */
const tidy = (amount: number, quantity: Quantity): number =>
	quantity === 'memory' ? Math.round(amount) : Math.round(amount * 100) / 100;

/** Returns the value at a path such as `mem_usage.used_vram`. If a whole section is a word (`"power": "N/A"`), returns the word. */
export const valueAt = (entry: JsonObject, path: string): unknown => {
	let value: unknown = entry;
	for (const key of path.split('.')) {
		if (!isObject(value)) {
			return typeof value === 'string' ? value : undefined;
		}

		value = Object.hasOwn(value, key) ? value[key] : undefined;
	}

	return value;
};

export const readText = (raw: unknown): string | undefined => {
	const text = typeof raw === 'string' ? raw.trim() : '';
	return text === '' || /^(?:n\/a|unknown|none|null)$/iv.test(text) ? undefined : cap(text, 200);
};

/** The largest number that counts as the index of a GPU. */
const largestIndex = 1023;

export const readIndex = (raw: unknown): number | undefined => {
	const index = typeof raw === 'string' && /^\d{1,4}$/v.test(raw) ? Number(raw) : raw;
	return typeof index === 'number' && Number.isSafeInteger(index) && index >= 0 && index <= largestIndex
		? index
		: undefined;
};

/**
Returns the entries of amd-smi's answer, by GPU: a plain list in ROCm 5 and 6, `{"gpu_data": [...]}` in ROCm 7, an object for a single GPU. If a GPU
has several entries, the first is used, because some versions print the answer twice. Ignores a list of processors, which some versions print before
the list of GPUs. Undefined for other answers.
*/
export const entriesByGpu = (documents: readonly unknown[] = []): ReadonlyMap<number, JsonObject> | undefined => {
	const lists = documents.flatMap((document) => listIn(document));
	if (lists.length === 0) {
		return undefined;
	}

	const entries = new Map<number, JsonObject>();
	for (const entry of lists.flat()) {
		const index = isObject(entry) ? readIndex(entry['gpu']) : undefined;
		if (index !== undefined && !entries.has(index)) {
			entries.set(index, entry as JsonObject);
		}
	}

	return entries;
};

const listIn = (document: unknown): ReadonlyArray<readonly unknown[]> => {
	const inner = isObject(document) && Object.hasOwn(document, 'gpu_data') ? document['gpu_data'] : document;
	if (Array.isArray(inner)) {
		return [inner];
	}

	return isObject(inner) && Object.hasOwn(inner, 'gpu') ? [[inner]] : [];
};
