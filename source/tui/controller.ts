/** Translates keys to intents, which name the effects of keys, and carries out each intent: changes the state or runs a command. */
import {sanitize} from '../format/text/text.js';
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
import {isPanelMode, modeOf, type Mode} from './state/modes.js';
import {panelNames, panelTitles} from './state/panels/state.js';

type Effects = {
	readonly quit: () => void;
	readonly suspend: () => void;
	readonly refresh: () => void;
	readonly broken: (error: unknown) => void;
};

/** Dialogs in which `y` means yes, and most other keys mean no. */
const questions: ReadonlySet<Mode> = new Set(['confirmation', 'choice']);

/** Modes that ignore clicks. A click would move the selection while text is being typed, and would have no visible effect on a small screen. */
const mouselessModes: ReadonlySet<Mode> = new Set(['filter', 'search', 'small']);

/** Modes in which the message line is hidden, so that a key does not remove a message that nobody has read. */
const modesWithoutMessage: ReadonlySet<Mode> = new Set(['filter', 'search', 'command', 'small']);

/** Returns the message for a key that has no effect in the focused panel. Names the panels in which the key works. */
function unboundText(key: string, bindings: readonly Binding[]): string {
	const name = sanitize(keyText(key));
	const panels = panelNames
		.filter((mode) => bindings.some(({modes, keys}) => modes.includes(mode) && keys.includes(key)))
		.map((mode) => `${panelNames.indexOf(mode) + 1} ${panelTitles[mode]}`);
	return panels.length === 0
		? `${name} is not a key of the monitor: ? shows all keys`
		: `${name} does nothing here. It is a key of ${panels.join(', ')}`;
}

export function createController(
	{getState, dispatch}: StateStore,
	runner: CommandRunner,
	effects: Effects,
	targets: Pick<MouseTargets, 'send'>,
) {
	/** Keys that are pressed while a completion is being computed. They are handled when the completion is done. */
	let held: string[] | undefined;

	async function complete(): Promise<void> {
		const keys: string[] = [];
		held = keys;
		try {
			await completeLine(runner.context);
		} finally {
			if (held === keys) {
				held = undefined;
				pressAll(keys, false);
			}
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
			// All other intents are names of actions, which TypeScript cannot infer.
			dispatch({kind: intent} as Action);
		}
	}

	function pressOne(key: string, mayAnswer: boolean): void {
		const mode = modeOf(getState());
		const bindings = bindingsWith(getState().settings.keys);
		// The key that suspends the monitor works in every mode, unless the user has chosen a character for it, which text fields need.
		const isSuspension =
			mode !== 'small' && !isCharacter(key) && intentOf(getState().panels.focus, key, bindings) === 'suspend';
		const intent = isSuspension ? 'suspend' : intentOf(mode, key, bindings);
		if (questions.has(mode)) {
			// A `y` that arrives with other characters does not answer the question.
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
			// Shows nothing for an unknown key in a dialog, because the message would replace the line that explains what to type.
			dispatch(warning(unboundText(key, bindings)));
		}
	}

	function pressAll(names: readonly string[], mayAnswer: boolean): void {
		for (const name of names) {
			if (name === 'escape' || name === 'ctrl-c') {
				// The user does not want to wait for the completion, so the held keys are dropped.
				held = undefined;
				pressOne(name, mayAnswer);
			} else if (held === undefined) {
				pressOne(name, mayAnswer);
			} else {
				held.push(name);
			}
		}
	}

	/**
	Whether these keys can answer a question. A single `y` can, and so can a `y` that arrives together with the key that opened the question, as from a
	fast typist. Three or more keys at once may be pasted text, because some terminals do not mark pasted text.
	*/
	const mayAnswer = (names: readonly string[]): boolean =>
		names.length === 1 || (names.length === 2 && isPanelMode(modeOf(getState())));

	function removeReadMessage(): void {
		if (!modesWithoutMessage.has(modeOf(getState()))) {
			dispatch({kind: 'key-pressed'});
		}
	}

	return {
		press(input: string, key: KeyEvent): void {
			const names = keyNames(input, key);
			removeReadMessage();
			pressAll(names, mayAnswer(names));
		},
		point(event: MouseEvent): void {
			// Ignores clicks while a completion is being computed. Only keys are kept until the completion is done.
			if (held !== undefined) {
				return;
			}

			removeReadMessage();
			if (!mouselessModes.has(modeOf(getState()))) {
				targets.send(event);
			}
		},
		/** Handles a key, given by its name in the table of all keys. Also called when a key hint is clicked. */
		pressName(name: string): void {
			pressOne(name, true);
		},
		/** Inserts pasted text into the open text field. If no text field is open, ignores the text. Pasted text never acts as keys. */
		paste(text: string): void {
			if (modeOf(getState()) !== 'small') {
				dispatch({kind: 'typed', text});
			}
		},
	};
}
