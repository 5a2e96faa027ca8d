/** Generates the table of all keys from the program. */
import {bindings, intentOf, type Intended} from '../../../source/tui/keys/bindings.js';
import {keyText} from '../../../source/tui/keys/key-names.js';
import {commands} from '../../../source/tui/commands/index.js';
import type {MonitorCommand} from '../../../source/tui/commands/command.js';
import {isPanelMode, modes, type Mode} from '../../../source/tui/state/modes.js';
import {initialState, type State} from '../../../source/tui/state/state.js';
import type {Action} from '../../../source/tui/state/actions.js';
import {after, settingsFor, stateOf, type Step} from '../_harness.js';
import {answered, held, remoteRow} from '../hosts/_hosts.js';
import {createBox, createScene, lease} from '../_world.js';

const size = {columns: 120, rows: 40};

const hostsArrived: Action = {
	kind: 'hosts-arrived',
	known: [answered('gpu-box-8', [remoteRow(0), held(1, 'alice'), held(2, 'bob')])],
	nowMs: 1000,
};

const storeLost: Action = {kind: 'store-lost', reason: 'Redis unreachable', nowMs: 4000, sinceMs: 4000};

const unmatched: readonly Step[] = ['open-filter', {kind: 'typed', text: 'no such row'}, 'keep-filter'];

/** Returns situations that decide whether a command is enabled. In each, the first row is selected. */
async function situations(): Promise<ReadonlyMap<string, State>> {
	const scene = await createScene();
	const free = await createBox(2);
	const hosts = {otherHosts: ['gpu-box-8']};
	return new Map([
		['nothing was read', initialState(settingsFor(scene), size, 1000)],
		['own GPU', await stateOf(scene, size, hosts, [hostsArrived])],
		['free GPU', await stateOf(free, size, hosts, [hostsArrived])],
		['GPU of bob', await stateOf(await createBox(2, {leases: {0: lease('bob')}}), size, hosts, [hostsArrived])],
		['no row matches the filter', await stateOf(free, size, {}, unmatched)],
		['Redis unreachable', await stateOf(scene, size, hosts, [hostsArrived, storeLost])],
		['--readonly', await stateOf(free, size, {...hosts, isReadonly: true}, [hostsArrived])],
		['no pool', await stateOf(free, size, {...hosts, hasNoPool: true}, [hostsArrived])],
	]);
}

/** Presses the key that focuses a panel. The detail panel is about the GPU that is selected in the table. */
const focused = (state: State, panel: Mode): State => after(state, {kind: `focus-${panel}`} as Action);

const isDialogChange = (intent: Intended): intent is Extract<Intended, (...values: never) => unknown> =>
	typeof intent === 'function';

/** Returns the name of an effect: an action in the config, an intent, or the command whose dialog it changes. */
function effectOf({intent, name}: {readonly intent: Intended; readonly name?: string}): string {
	if (!isDialogChange(intent)) {
		return name ?? (typeof intent === 'string' ? intent : intent.name);
	}

	const command = Object.values(commands)
		.flat()
		.find(({dialogKeys = []}: MonitorCommand) => dialogKeys.some(({change}) => change === intent));
	return `change the dialog of ${command!.name}`;
}

/** Returns lines with a key, its effect, and the reasons for which the effect is disabled, for each panel and dialog. */
export async function keyTable(): Promise<string> {
	const found = await situations();
	const lines = modes.map((mode) => {
		const inMode = bindings.filter((binding) => binding.modes.includes(mode));
		const keys = inMode.flatMap((binding) =>
			binding.keys.filter((key) => intentOf(mode, key) === binding.intent).map((key) => ({binding, key})),
		);
		const described = keys.map(({binding, key}) => {
			const {intent} = binding;
			const reasonsOf = typeof intent === 'object' && isPanelMode(mode) ? intent.reasonAgainst : undefined;
			const reasons = [...found]
				.map(([situation, state]) => [reasonsOf?.(focused(state, mode)), situation] as const)
				.filter(([reason]) => reason !== undefined);
			const byReason = Map.groupBy(reasons, ([reason]) => reason);
			return [
				`${keyText(key).padEnd(10)}${effectOf(binding)}`,
				...Array.from(
					byReason,
					([reason, where]) => `          - ${where.map(([, situation]) => situation).join(', ')}: ${reason}`,
				),
			].join('\n');
		});
		return `${mode}\n${described.toSorted().join('\n')}\n`;
	});
	return lines.join('\n');
}
