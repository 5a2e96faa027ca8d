/** Turns keys into intents, and intents into actions and commands. */
import {sanitize, sanitizeTyped} from '../format/text/text.js';
import type {Action, Intent, OutwardIntent} from './state/actions.js';
import type {StateStore} from './state/store.js';
import {completeLine, openChosenLine} from './commands/command-line.js';
import type {CommandRunner} from './commands/dispatch.js';
import {warning} from './commands/command.js';
import type {MouseEvent} from './mouse/input.js';
import type {MouseTargets} from './mouse/mouse-context.js';
import {isCharacter, keyNames, keyText, type KeyEvent} from './keys/key-names.js';
import {intentOf, type Binding, type Intended} from './keys/bindings.js';
import {bindingsWith} from './keys/custom.js';
import {texts} from './keys/dialog-keys.js';
import {isPanelMode, modeOf, type Mode} from './state/keys.js';
import {panelNames, type PanelName} from './state/panels/state.js';

type Effects = {
	readonly quit: () => void;
	readonly suspend: () => void;
	readonly refresh: () => void;
	readonly broken: (error: unknown) => void;
};

type Controller = {
	readonly press: (input: string, key: KeyEvent) => void;
	/** Handles a key by its name in the key table. Clicks on key hints use this. */
	readonly pressName: (name: string) => void;
	readonly point: (event: MouseEvent) => void;
	/** Inserts pasted text into the open field. Without a field, the text is ignored and never read as keys. */
	readonly paste: (text: string) => void;
};

/** Dialogs in which `y` means yes, and most other keys mean no. */
const questions: ReadonlySet<Mode> = new Set(['confirmation', 'choice']);

/** Modes that ignore clicks: a click would move the selection that the typed line is about. */
const mouselessModes: ReadonlySet<Mode> = new Set(['filter', 'search', 'small']);

/** The key that opens each panel, and the panel's title there. */
const panelTitles: Readonly<Record<PanelName, string>> = {
	table: '1 GPUs',
	detail: '2 Detail',
	queue: '3 Queue',
	report: '4 Report',
	events: '5 Events',
	processes: '6 Processes',
	hosts: '7 Hosts',
};

/** Returns the message for a key that does nothing here. The message names the panels in which the key works. */
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
	runner: CommandRunner,
	effects: Effects,
	targets: Pick<MouseTargets, 'send'>,
): Controller {
	/** Keys pressed while a completion is pending. They are handled after the completion. */
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

	const submit = (willWait: boolean): void => {
		runner.submit(willWait).catch(effects.broken);
	};

	const outward: Readonly<Record<OutwardIntent, () => void>> = {
		submit() {
			submit(false);
		},
		'submit-patiently'() {
			submit(true);
		},
		'copy-shell-command': runner.copyShellCommand,
		complete() {
			complete().catch(effects.broken);
		},
		'open-line'() {
			openChosenLine(runner.context);
		},
		'quit-now': effects.quit,
		suspend: effects.suspend,
		refresh: effects.refresh,
	};

	const isOutward = (intent: Intent): intent is OutwardIntent => Object.hasOwn(outward, intent);

	function act(intent: Intended): void {
		if (typeof intent === 'function') {
			runner.change(intent);
		} else if (typeof intent === 'object') {
			runner.press(intent).catch(effects.broken);
		} else if (isOutward(intent)) {
			outward[intent]();
		} else {
			// TypeScript cannot see that each other intent is an action.
			dispatch({kind: intent} as Action);
		}
	}

	function pressOne(key: string, mayAnswer: boolean): void {
		const mode = modeOf(getState());
		const bindings = bindingsWith(getState().settings.keys);
		// Suspending works everywhere, but a character chosen for it is text in a field.
		const isSuspension =
			mode !== 'small' && !isCharacter(key) && intentOf(getState().panels.focus, key, bindings) === 'suspend';
		const intent = isSuspension ? 'suspend' : intentOf(mode, key, bindings);
		if (questions.has(mode)) {
			// A `y` in the middle of other characters does not answer the question.
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
			// A stray key must not replace the line that says what to type next.
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
	Returns whether these keys can answer a question: a `y` alone, or a `y` in one event with the key that opened the question, as fast typists
	send.
	Longer events can be a paste from a terminal without bracketed paste.
	*/
	const mayAnswer = (names: readonly string[]): boolean =>
		names.length === 1 || (names.length === 2 && isPanelMode(modeOf(getState())));

	return {
		press(input, key) {
			const names = keyNames(input, key);
			// Keep the current message: this screen has no room for another.
			if (modeOf(getState()) !== 'small') {
				dispatch({kind: 'key-pressed'});
			}

			pressAll(names, mayAnswer(names));
		},
		point(event) {
			// Ignore clicks while a completion is pending. Keys are held instead.
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
