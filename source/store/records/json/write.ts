/** Writes records as canonical JSON: in well-formed Unicode, with fields in the given order and without fields that are not set. */

/** Returns the `known` fields that are set, in this order, then `unknown` fields with other names. Throws RangeError (a bug) for NaN or infinity. */
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
	// Assigning the fields one by one would make a field `__proto__` the prototype.
	return Object.fromEntries([...Object.entries(known), ...kept]);
}

export function writeRecord(...[known, unknown]: Parameters<typeof recordOf>): string {
	const text = JSON.stringify(unknown === undefined ? known : withUnknown(known, unknown));
	// JSON.stringify writes NaN and infinite numbers as null. Records hardly ever contain null otherwise, so the slow check is rare.
	if (text.includes('null')) {
		requireNumbers(known);
	}

	// JSON.stringify escapes a lone surrogate, and the Go program's Lua scripts fail at this escape. The pattern also matches all other escapes, so that
	// an escaped backslash before "ud800" is not mistaken for the escape of a surrogate.
	return text.includes(String.raw`\ud`)
		? text.replaceAll(/\\(?:ud[89a-f][0-9a-f]{2}|.)/gv, (escape) => (escape.length === 6 ? '\u{FFFD}' : escape))
		: text;
}

export const optionalText = (text: string | undefined): string | undefined => (text === '' ? undefined : text);

/** Returns the text. Throws TypeError (a bug of the caller) if it is empty, because the Go program treats a GPU with an empty label as free. */
export function requiredText(text: string, what: string): string {
	if (text === '') {
		throw new TypeError(`${what} to be stored is empty`);
	}

	return text;
}
