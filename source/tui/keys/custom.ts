/** Applies the keys that the user has chosen in the setting `top.keys`. */
import {CanhazgpuError, quoted} from '../../errors.js';
import {isPanelMode, type Mode} from '../state/keys.js';
import {panelNames} from '../state/panels/state.js';
import {bindings, dialogBindings, panelBindings, type Binding} from './bindings.js';
import {keyNamed, keyText} from './key-names.js';

type CustomKeys = ReadonlyMap<string, readonly string[]>;

const isOfPanel = ({modes}: Binding): boolean => modes.some((mode) => isPanelMode(mode));

/** Returns the name of an action in the config. Undefined for text editing, and for actions that cannot be configured. */
const actionOf = (binding: Binding): string | undefined => {
	const {intent} = binding;
	return isOfPanel(binding) && typeof intent !== 'function'
		? (binding.name ?? (typeof intent === 'string' ? intent : intent.name))
		: undefined;
};

/** Returns all actions that can be configured with their default keys, in the order of the help. */
export const actions = (): ReadonlyMap<string, readonly string[]> => {
	const found = new Map<string, readonly string[]>();
	for (const binding of panelBindings) {
		const name = actionOf(binding);
		if (name !== undefined) {
			found.set(name, [...new Set([...(found.get(name) ?? []), ...binding.keys])]);
		}
	}

	return found;
};

const refuse = (problem: string, hint: string): CanhazgpuError =>
	new CanhazgpuError('config', `top.keys: ${problem}`, {hint});

function keysFor(action: string, written: readonly string[]): readonly string[] {
	return written.map((key) => {
		const name = keyNamed(key);
		if (name === undefined) {
			throw refuse(
				`${quoted(key)} cannot be a key for ${action}`,
				'Write one character, space, enter, tab, escape, up, down, left, right, pageup, pagedown, home, end, or ctrl-d and similar.',
			);
		}

		return name;
	});
}

/** Returns a message if a key has two meanings in one panel. */
function conflictIn(changed: readonly Binding[], mode: Mode): string | undefined {
	const used = new Map<string, Binding>();
	for (const binding of changed) {
		for (const key of binding.modes.includes(mode) ? binding.keys : []) {
			const other = used.get(key);
			if (other !== undefined && other.intent !== binding.intent) {
				return `${keyText(key)} is the key of both ${actionOf(other)} and ${actionOf(binding)}`;
			}

			used.set(key, binding);
		}
	}

	return undefined;
}

function chosen(custom: CustomKeys): readonly Binding[] {
	const known = actions();
	for (const action of custom.keys()) {
		if (!known.has(action)) {
			throw refuse(`there is no action called ${quoted(action)}`, 'See the names: canhazgpu help monitor');
		}
	}

	const changed = panelBindings.map((binding): Binding => {
		const action = actionOf(binding);
		const written = action === undefined ? undefined : custom.get(action);
		if (written === undefined) {
			return binding;
		}

		const keys = keysFor(action!, written);
		const [, word = '', soon] = binding.footer ?? [];
		return {
			...binding,
			keys,
			footer: binding.footer === undefined || keys.length === 0 ? undefined : [keyText(keys[0]!), word, soon],
		};
	});
	const conflict = panelNames.map((mode) => conflictIn(changed, mode)).find((words) => words !== undefined);
	if (conflict !== undefined) {
		throw refuse(conflict, 'Choose another key for one of them.');
	}

	return [...changed, ...dialogBindings];
}

const made = new WeakMap<CustomKeys, readonly Binding[]>();

/**
Returns all keys. Keys in the config replace the default keys of their actions.

@throws CanhazgpuError `config` for an unknown action, an invalid key, or a key with two meanings.
*/
export function bindingsWith(custom: CustomKeys | undefined): readonly Binding[] {
	if (custom === undefined) {
		return bindings;
	}

	const found = made.get(custom) ?? chosen(custom);
	made.set(custom, found);
	return found;
}
