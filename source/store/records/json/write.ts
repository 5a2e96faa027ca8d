/** Writes records as canonical JSON: fields in the given order, without unset ones, in well-formed Unicode. */

/**
@param known - Fields of the record, in their order. Undefined fields are omitted.
@param unknown - Fields that this version does not know. They are kept, and never replace a known field.
@throws RangeError for a number that JSON lacks, a bug of the caller.
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
	// Not by assignment, because a field `__proto__` would become the prototype.
	return Object.fromEntries([...Object.entries(known), ...kept]);
}

/** Returns {@link recordOf} as text. */
export function writeRecord(...[known, unknown]: Parameters<typeof recordOf>): string {
	const text = JSON.stringify(unknown === undefined ? known : withUnknown(known, unknown));
	// JSON.stringify writes null for a number that JSON lacks. Records hardly ever contain null otherwise.
	if (text.includes('null')) {
		requireNumbers(known);
	}

	// JSON.stringify escapes a lone surrogate, which breaks the Go program's Lua scripts. Other escapes are skipped whole, so that an escaped
	// backslash before "ud800" does not match.
	return text.includes(String.raw`\ud`)
		? text.replaceAll(/\\(?:ud[89a-f][0-9a-f]{2}|.)/gv, (escape) => (escape.length === 6 ? '\u{FFFD}' : escape))
		: text;
}

/** An empty text counts as not set. */
export const optionalText = (text: string | undefined): string | undefined => (text === '' ? undefined : text);

/** Checks a label. The Go program treats a GPU with an empty label as free. Throws TypeError for an empty one, a bug of the caller. */
export function requiredText(text: string, what: string): string {
	if (text === '') {
		throw new TypeError(`${what} to be stored is empty`);
	}

	return text;
}
