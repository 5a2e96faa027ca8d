/**
Separates the terminal's mouse reports from keys. Reports have the SGR form (mode 1006): `ESC [ < BUTTON ; COLUMN ; ROW M`. Incomplete or malformed
reports are discarded, because their bytes must never be read as keys. Pasted text is not changed.
*/

export type MouseEvent = {
	readonly kind: 'click' | 'wheel-up' | 'wheel-down';
	/** Columns and rows are counted from 0, starting at the upper left corner. */
	readonly column: number;
	readonly row: number;
};

/** Matches a report after its leading Escape. */
const report = /^\[<(?<button>\d{1,3});(?<column>\d{1,5});(?<row>\d{1,5})(?<end>m)/iv;
const unfinished = /^\[(?:<[\d;]{0,20})?$/v;
/** Matches a malformed report: its beginning, and one more character, with which an escape sequence can end. */
const likeReport = /^\[<[\d;]*[\u{40}-\u{7E}]?/v;
/** Matches a report in the older form `ESC [ M`, which some terminals send, so that its last three bytes are not mistaken for keys. */
const old = /^\[M[\s\S]{0,3}/v;
const oldLength = 5;

const pasteStart = '\u{1B}[200~';
const pasteEnd = '\u{1B}[201~';

const escape = '\u{1B}';

/** The supported buttons, by number: the left button and the wheel. A button that is used with Shift, Alt or Ctrl has another number. */
const kinds: Readonly<Record<string, MouseEvent['kind']>> = {0: 'click', 64: 'wheel-up', 65: 'wheel-down'};

function eventOf({button, column, row, end}: Readonly<Record<string, string>>): MouseEvent | undefined {
	const kind = kinds[Number(button)];
	const position = {column: Number(column) - 1, row: Number(row) - 1};
	return kind === undefined || end !== 'M' || position.column < 0 || position.row < 0 ? undefined : {kind, ...position};
}

type MouseFilter = {
	readonly push: (chunk: string) => string;
};

/** Returns how many characters at the end of the text could be the beginning of `mark`. */
function startOf(mark: string, text: string): number {
	for (let length = Math.min(mark.length - 1, text.length); length > 0; length--) {
		if (text.endsWith(mark.slice(0, length))) {
			return length;
		}
	}

	return 0;
}

/** Creates a filter. `onEvent` is called with each mouse event, in order, before `push` returns. */
export function createMouseFilter(onEvent: (event: MouseEvent) => void): MouseFilter {
	/** The last characters of the input, if they may begin an escape sequence. The next chunk completes the sequence. */
	let held = '';
	let isPasting = false;

	/** Returns the length of the escape sequence at the start of the text, and the keys in it. `held` means that the sequence is incomplete. */
	function take(text: string): 'held' | {readonly length: number; readonly keys: string} {
		const rest = text.slice(escape.length);
		const found = report.exec(rest);
		if (found !== null) {
			const event = eventOf(found.groups as Record<string, string>);
			if (event !== undefined) {
				onEvent(event);
			}

			return {length: escape.length + found[0].length, keys: ''};
		}

		if (text.startsWith(pasteStart)) {
			isPasting = true;
			return {length: pasteStart.length, keys: pasteStart};
		}

		const [oldReport] = old.exec(rest) ?? [];
		const isUnfinished =
			unfinished.test(rest) ||
			(oldReport === rest && rest.length < oldLength) ||
			(text.length > 1 && pasteStart.startsWith(text));
		if (isUnfinished) {
			return 'held';
		}

		const [nonsense] = oldReport === undefined ? (likeReport.exec(rest) ?? []) : [oldReport];
		return nonsense === undefined ? {length: 1, keys: escape} : {length: escape.length + nonsense.length, keys: ''};
	}

	return {
		push(chunk) {
			let text = held + chunk;
			let keys = '';
			held = '';
			while (text !== '') {
				const mark = isPasting ? pasteEnd : escape;
				const offset = text.indexOf(mark);
				if (offset === -1) {
					const kept = isPasting ? startOf(pasteEnd, text) : 0;
					held = text.slice(text.length - kept);
					return keys + text.slice(0, text.length - kept);
				}

				const until = isPasting ? offset + mark.length : offset;
				keys += text.slice(0, until);
				text = text.slice(until);
				if (isPasting) {
					isPasting = false;
					continue;
				}

				const taken = take(text);
				if (taken === 'held') {
					held = text;
					return keys;
				}

				keys += taken.keys;
				text = text.slice(taken.length);
			}

			return keys;
		},
	};
}

export type MouseInput = {
	/** A stream with the terminal's input, without mouse reports. */
	readonly stdin: NodeJS.ReadStream;
	/** Calls the listener with each event. A new listener replaces the old one. */
	readonly listen: (listener: (event: MouseEvent) => void) => void;
};

/** Removes mouse reports from the terminal's input, because Ink would read them as keys. */
export function createMouseInput(terminal: NodeJS.ReadStream): MouseInput {
	let listener: (event: MouseEvent) => void = () => undefined;
	const filter = createMouseFilter((event) => {
		listener(event);
	});
	const read = (size?: number): unknown => {
		const chunk: unknown = terminal.read(size);
		return typeof chunk === 'string' ? filter.push(chunk) : chunk;
	};

	const stdin = new Proxy(terminal, {
		get(target, name) {
			const value: unknown = name === 'read' ? read : Reflect.get(target, name, target);
			return typeof value === 'function' ? (value.bind(target) as unknown) : value;
		},
	});
	return {
		stdin,
		listen(next) {
			listener = next;
		},
	};
}

/** Matches the names of terminals that have no mouse, or that print escape sequences that they do not know. */
const withoutMouse = /^$|^(?:dumb|linux|ansi|cons25|sun|emacs|eterm|vt\d+|unknown)/v;

export const mayHaveMouse = (name = ''): boolean => !withoutMouse.test(name);
