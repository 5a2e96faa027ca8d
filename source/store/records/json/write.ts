/** Writes records as canonical JSON: fields in the order given, nothing for what is unset, well-formed Unicode throughout. */

/**
@param known - Fields of the record, in their order; undefined ones are left out.
@param unknown - Fields that this version does not know, kept as they were; none of them can replace a known one.
@throws RangeError for a number that JSON does not have; that is a bug of the caller.
*/
export function recordOf(
	known: Readonly<Record<string, unknown>>,
	unknown?: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
	requireNumbers(known);
	return unknown === undefined ? known : withUnknown(known, unknown);
}

function requireNumbers(known: Readonly<Record<string, unknown>>): void {
	for (const [name, value] of Object.entries(known)) {
		if (typeof value === 'number' && !Number.isFinite(value)) {
			throw new RangeError(`${name} to be stored is ${value}`);
		}
	}
}

function withUnknown(
	known: Readonly<Record<string, unknown>>,
	unknown: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
	const kept = Object.entries(unknown).filter(([name]) => !Object.hasOwn(known, name));
	// Not by assignment: a field named __proto__ would become the prototype.
	return Object.fromEntries([...Object.entries(known), ...kept]);
}

/** The text of a record that {@link recordOf} makes of the same. */
export function writeRecord(...[known, unknown]: Parameters<typeof recordOf>): string {
	const text = JSON.stringify(unknown === undefined ? known : withUnknown(known, unknown));
	// In place of a number that JSON does not have stands null, which hardly any other record has.
	if (text.includes('null')) {
		requireNumbers(known);
	}

	// JSON.stringify writes a lone surrogate as an escape, which stops the peer's Lua. The other escapes are passed over
	// whole, so that an escaped backslash before "ud800" is not taken for one.
	return text.includes(String.raw`\ud`)
		? text.replaceAll(/\\(?:ud[89a-f][0-9a-f]{2}|.)/gv, (escape) => (escape.length === 6 ? '\u{FFFD}' : escape))
		: text;
}

/** An optional text: an empty one is not set. */
export const optionalText = (text: string | undefined): string | undefined => (text === '' ? undefined : text);

/**
A label, which is never empty: to the peer an empty one means that the GPU is free.

@throws TypeError when it is; that is a bug of the caller.
*/
export function requiredText(text: string, what: string): string {
	if (text === '') {
		throw new TypeError(`${what} to be stored is empty`);
	}

	return text;
}
