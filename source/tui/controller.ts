/** From keys to intents, and from intents to the state or to the world. */
import type {Key} from 'ink';
import type {World} from '../core/ports.js';
import {sanitize} from '../format/text.js';
import {CanhazgpuError} from '../errors.js';
import type {Action} from './actions.js';
import {isCharacter, keyNames} from './key-names.js';
import {intentOf, type Intent} from './keys.js';
import {modeOf} from './mode.js';
import {perform} from './perform.js';
import type {StateStore} from './state-store.js';
import {submissionOf, type Submission} from './submission.js';

export type Effects = {
	readonly quit: () => void;
	readonly suspend: () => void;
	/** Read and scan again. */
	readonly refresh: () => void;
	readonly broken: (error: unknown) => void;
};

export type Controller = {
	/** One event of Ink's input. */
	readonly press: (input: string, key: Key) => void;
	/** Pasted text goes into a field or nowhere: it is never taken for keys. */
	readonly paste: (text: string) => void;
};

export function createController(world: World, store: StateStore, effects: Effects): Controller {
	const {getState, dispatch} = store;

	async function submit(): Promise<void> {
		const {dialog: asked, settings} = getState();
		if (asked === undefined || asked.kind === 'help' || asked.isBusy) {
			return;
		}

		let submission: Submission;
		try {
			submission = submissionOf(asked);
		} catch (error) {
			if (!(error instanceof CanhazgpuError)) {
				throw error;
			}

			dispatch({kind: 'refused', complaint: {message: error.message, hint: error.hint}, dialog: asked});
			return;
		}

		dispatch({kind: 'submitted'});
		const dialog = getState().dialog!;
		const outcome = await perform(world, settings.requester, submission);
		dispatch('flash' in outcome ? {kind: 'done', dialog, ...outcome} : {kind: 'refused', dialog, ...outcome});
		effects.refresh();
	}

	function act(intent: Intent): void {
		// eslint-disable-next-line @typescript-eslint/switch-exhaustiveness-check -- All the others are the reducer's.
		switch (intent) {
			case 'submit': {
				submit().catch(effects.broken);
				return;
			}

			case 'quit': {
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

	function pressOne(key: string, isAlone: boolean): void {
		const mode = modeOf(getState());
		const intent = intentOf(mode, key);
		if (mode === 'confirmation') {
			// A `y` in the middle of a burst was not an answer to this question.
			if (intent !== 'submit') {
				act(intent ?? 'close-dialog');
			} else if (isAlone) {
				act(intent);
			}
		} else if (intent !== undefined) {
			act(intent);
		} else if ((mode === 'form' || mode === 'filter') && isCharacter(key)) {
			dispatch({kind: 'typed', text: key});
		}
	}

	return {
		press(input, key) {
			const names = keyNames(input, key);
			dispatch({kind: 'key-pressed'});
			for (const name of names) {
				pressOne(name, names.length === 1);
			}
		},
		paste(text) {
			dispatch({kind: 'typed', text: sanitize(text)});
		},
	};
}
