/** From keys to intents, and from intents to the state or to the world. */
import {sanitize, sanitizeTyped} from '../format/text/text.js';
import type {Action} from './state/actions.js';
import type {StateStore} from './state/store.js';
import {completeLine, openChosenLine} from './verbs/command-line.js';
import type {VerbRunner} from './verbs/dispatch.js';
import {warning} from './verbs/verb.js';
import type {MouseEvent} from './mouse/input.js';
import type {MouseTargets} from './mouse/mouse-context.js';
import {isCharacter, keyNames, keyText, type KeyEvent} from './keys/key-names.js';
import {intentOf, texts, type Binding, type Intended} from './keys/bindings.js';
import {bindingsWith} from './keys/custom.js';
import {isPanelMode, modeOf, type Mode} from './state/keys.js';
import {panelNames, type PanelName} from './state/panels/state.js';

type Effects = {
	readonly quit: () => void;
	readonly suspend: () => void;
	/** Read and scan again. */
	readonly refresh: () => void;
	readonly broken: (error: unknown) => void;
};

type Controller = {
	/** One event of Ink's input. */
	readonly press: (input: string, key: KeyEvent) => void;
	/** A key by its name in the table of keys, such as a click on its hint presses. */
	readonly pressName: (name: string) => void;
	/** What the mouse did. */
	readonly point: (event: MouseEvent) => void;
	/** Pasted text goes into a field or nowhere: it is never taken for keys. */
	readonly paste: (text: string) => void;
};

/** Questions that take `y` for yes, and most other keys for no. */
const questions: ReadonlySet<Mode> = new Set(['confirmation', 'choice']);

/** While a line is typed, clicks would move what it is about. */
const mouselessModes: ReadonlySet<Mode> = new Set(['filter', 'hosts-filter', 'search', 'small']);

/** Which key leads to each panel, and its title there. */
const panelTitles: Readonly<Record<PanelName, string>> = {
	table: '1 GPUs',
	detail: '2 Detail',
	queue: '3 Queue',
	report: '4 Report',
	events: '5 Events',
	processes: '6 Processes',
	hosts: '7 Hosts',
};

/** What is said of a key that does nothing where it was pressed: in which panels the key does something, if in any. */
function unboundText(key: string, bindings: readonly Binding[]): string {
	const name = sanitize(keyText(key));
	const panels = panelNames
		.filter((mode) => bindings.some(({modes, keys}) => modes.includes(mode) && keys.includes(key)))
		.map((mode) => panelTitles[mode]);
	return panels.length === 0
		? `${name} is no key of the monitor: ? shows them all`
		: `${name} does nothing here. It is a key of ${panels.join(', ')}`;
}

export function createController(
	{getState, dispatch}: StateStore,
	runner: VerbRunner,
	effects: Effects,
	targets: Pick<MouseTargets, 'send'>,
): Controller {
	/** Keys that came while Tab was being answered: they belong behind its answer. */
	let held: string[] | undefined;

	async function complete(): Promise<void> {
		held = [];
		try {
			await completeLine(runner.context);
		} finally {
			const keys = held;
			held = undefined;
			pressAll(keys, false);
		}
	}

	function act(intent: Intended): void {
		if (typeof intent === 'function') {
			runner.change(intent);
			return;
		}

		if (typeof intent === 'object') {
			runner.press(intent).catch(effects.broken);
			return;
		}

		// eslint-disable-next-line @typescript-eslint/switch-exhaustiveness-check -- All the others are the reducer's.
		switch (intent) {
			case 'submit':
			case 'submit-patiently': {
				runner.submit(intent === 'submit-patiently').catch(effects.broken);
				return;
			}

			case 'complete': {
				complete().catch(effects.broken);
				return;
			}

			case 'open-line': {
				openChosenLine(runner.context);
				return;
			}

			case 'quit-now': {
				effects.quit();
				return;
			}

			case 'suspend': {
				effects.suspend();
				return;
			}

			case 'refresh': {
				effects.refresh();
				return;
			}

			default: {
				// The intents are too many for the compiler to see that each is an action.
				dispatch({kind: intent} as Action);
			}
		}
	}

	function pressOne(key: string, mayAnswer: boolean): void {
		const mode = modeOf(getState());
		const bindings = bindingsWith(getState().settings.keys);
		// The shell is reached from everywhere, but what was chosen for that as a character is text where text is typed.
		const isSuspension =
			mode !== 'small' && !isCharacter(key) && intentOf(getState().panels.focus, key, bindings) === 'suspend';
		const intent = isSuspension ? 'suspend' : intentOf(mode, key, bindings);
		if (questions.has(mode)) {
			// A `y` in the middle of other characters was not an answer to this question.
			if (intent !== 'submit') {
				act(intent ?? 'close-dialog');
			} else if (mayAnswer) {
				act(intent);
			}
		} else if (intent !== undefined) {
			act(intent);
		} else if (texts.includes(mode) && isCharacter(key)) {
			dispatch({kind: 'typed', text: key});
		} else if (isPanelMode(mode) && key !== 'escape' && getState().flash?.next === undefined) {
			// A stray key does not replace the line that says what to type next.
			dispatch(warning(unboundText(key, bindings)));
		}
	}

	function pressAll(names: readonly string[], mayAnswer: boolean): void {
		for (const name of names) {
			if (held === undefined) {
				pressOne(name, mayAnswer);
			} else {
				held.push(name);
			}
		}
	}

	/**
	A `y` counts that came alone, or in one event with the key before it, which asked: so arrive two keys of a fast typist. Longer events may be
	text that was pasted into a terminal which does not say so.
	*/
	const mayAnswer = (names: readonly string[]): boolean =>
		names.length === 1 || (names.length === 2 && isPanelMode(modeOf(getState())));

	return {
		press(input, key) {
			const names = keyNames(input, key);
			// A key that does nothing takes no error from a screen that cannot show it.
			if (modeOf(getState()) !== 'small') {
				dispatch({kind: 'key-pressed'});
			}

			pressAll(names, mayAnswer(names));
		},
		point(event) {
			// While Tab is being answered, keys are held back; a click has no meaning by then.
			if (held !== undefined) {
				return;
			}

			dispatch({kind: 'key-pressed'});
			if (!mouselessModes.has(modeOf(getState()))) {
				targets.send(event);
			}
		},
		pressName(name) {
			pressOne(name, true);
		},
		paste(text) {
			if (modeOf(getState()) !== 'small') {
				dispatch({kind: 'typed', text: sanitizeTyped(text)});
			}
		},
	};
}
