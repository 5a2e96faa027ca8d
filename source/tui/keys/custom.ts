/** Applies the keys that the user has chosen in the setting `top.keys`. */
import {CanhazgpuError, quoted} from '../../errors.js';
import {remembering} from '../state/memo.js';
import {isPanelMode, type Mode} from '../state/modes.js';
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

/** Returns the default keys of each configurable action, in the order of the help. */
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

/** Returns the binding with other keys. The footer shows the first key. */
function withKeys(binding: Binding, keys: readonly string[]): Binding {
	const {footer} = binding;
	const isSame = keys[0] === binding.keys[0];
	const [shown, word = '', soon] = footer ?? [];
	return {
		...binding,
		keys,
		footer: footer === undefined || keys.length === 0 ? undefined : [isSame ? shown! : keyText(keys[0]!), word, soon],
	};
}

/** Removes default keys that the user has chosen for another action. Each key is removed only in the panels of that action. */
function withoutTaken(binding: Binding, named: readonly Binding[]): readonly Binding[] {
	const others = named.filter(({intent}) => intent !== binding.intent);
	const freeIn = (mode: Mode): readonly string[] =>
		binding.keys.filter((key) => others.every(({modes, keys}) => !(modes.includes(mode) && keys.includes(key))));
	const changed = binding.modes.filter((mode) => freeIn(mode).length < binding.keys.length);
	return changed.length === 0
		? [binding]
		: [
				{...binding, modes: binding.modes.filter((mode) => !changed.includes(mode))},
				...changed.map((mode) => withKeys({...binding, modes: [mode]}, freeIn(mode))),
			].filter(({modes, keys}) => modes.length > 0 && keys.length > 0);
}

function chosen(custom: CustomKeys): readonly Binding[] {
	const known = actions();
	for (const action of custom.keys()) {
		if (!known.has(action)) {
			throw refuse(`there is no action called ${quoted(action)}`, 'See the names: canhazgpu help monitor');
		}
	}

	const own = new Map(
		panelBindings.flatMap((binding) => {
			const action = actionOf(binding);
			const written = action === undefined ? undefined : custom.get(action);
			return written === undefined ? [] : [[binding, withKeys(binding, keysFor(action!, written))]];
		}),
	);
	const named = own.values().toArray();
	const changed = panelBindings.flatMap((binding) => own.get(binding) ?? withoutTaken(binding, named));
	const conflict = panelNames.map((mode) => conflictIn(changed, mode)).find((words) => words !== undefined);
	if (conflict !== undefined) {
		throw refuse(conflict, 'Choose another key for one of them.');
	}

	return [...changed, ...dialogBindings];
}

const bindingsFor = remembering((custom: CustomKeys) => [custom], chosen);

/**
Returns all bindings. Keys in the config replace the default keys of an action. If another action has such a key by default, it loses that key.

@throws CanhazgpuError `config` for an unknown action, an invalid key, or a key with two meanings.
*/
export const bindingsWith = (custom: CustomKeys | undefined): readonly Binding[] =>
	custom === undefined ? bindings : bindingsFor(custom);
