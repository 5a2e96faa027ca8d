/**
What the mouse says, taken out of what the keys say. Reports come in the form of SGR (mode 1006), `ESC [ < BUTTON ; COLUMN ; ROW M`. What begins like a
report and is none is thrown away: it must never be taken for keys. Text between the marks of a paste is left alone.
*/

export type MouseEvent = {
	readonly kind: 'click' | 'wheel-up' | 'wheel-down';
	/** Both count from 0, at the upper left. */
	readonly column: number;
	readonly row: number;
};

/** Behind its Escape: a report, of a length that none exceeds. */
const report = /^\[<(?<button>\d{1,3});(?<column>\d{1,5});(?<row>\d{1,5})(?<end>m)/iv;
const unfinished = /^\[(?:<[\d;]{0,20})?$/v;
/** The same, whatever follows. */
const likeReport = /^\[<[\d;]*[\u{40}-\u{7E}]?/v;
/** The form before SGR, of terminals that know no other: three bytes follow, which could be any keys. */
const old = /^\[M[\s\S]{0,3}/v;
const oldLength = 5;

const pasteStart = '\u{1B}[200~';
const pasteEnd = '\u{1B}[201~';

const escape = '\u{1B}';

/** Only the left button and the wheel mean anything, without Shift, Alt or Ctrl, when they go down. */
const kinds: Readonly<Record<string, MouseEvent['kind']>> = {0: 'click', 64: 'wheel-up', 65: 'wheel-down'};

function eventOf({button, column, row, end}: Readonly<Record<string, string>>): MouseEvent | undefined {
	const kind = kinds[Number(button)];
	const position = {column: Number(column) - 1, row: Number(row) - 1};
	return kind === undefined || end !== 'M' || position.column < 0 || position.row < 0 ? undefined : {kind, ...position};
}

type MouseFilter = {
	/** Takes what the terminal sent. Returns what of it is for the keys. */
	readonly push: (chunk: string) => string;
};

/** The length of what may be the beginning of a mark, at the end of a text. */
function startOf(mark: string, text: string): number {
	for (let length = Math.min(mark.length - 1, text.length); length > 0; length--) {
		if (text.endsWith(mark.slice(0, length))) {
			return length;
		}
	}

	return 0;
}

/** @param onEvent - Gets each event, in the order in which they happened, before `push` returns. */
export function createMouseFilter(onEvent: (event: MouseEvent) => void): MouseFilter {
	/** What may go on in the next chunk. */
	let held = '';
	let isPasting = false;

	/** What stands at an escape: for the keys, or for no one. `held`: the rest of it has not come yet. */
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
	/** The terminal, as it is without a mouse. */
	readonly stdin: NodeJS.ReadStream;
	/** Calls the listener with each event, until another is set. */
	readonly listen: (listener: (event: MouseEvent) => void) => void;
};

/** Stands between the terminal and Ink, which reads by `read` and takes what it is given for keys. */
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

/** Terminals that have no mouse, or that print what they do not know. */
const withoutMouse = /^$|^(?:dumb|linux|ansi|cons25|sun|emacs|eterm|vt\d+|unknown)/v;

/** Whether a terminal of this name, as in TERM, may have a mouse. */
export const mayHaveMouse = (name = ''): boolean => !withoutMouse.test(name);
