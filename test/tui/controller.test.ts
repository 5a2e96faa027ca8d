import type {Key} from 'ink';
import {expect, test} from 'vitest';
import {createController} from '../../source/tui/controller.js';
import {createStateStore} from '../../source/tui/state/store.js';
import type {Settings} from '../../source/tui/state/state.js';
import {reserve} from '../../source/tui/commands/reserve/reserve.js';
import {release} from '../../source/tui/commands/reservations/release.js';
import type {CommandRunner} from '../../source/tui/commands/dispatch.js';
import {createMouseTargets} from '../../source/tui/mouse/mouse-context.js';
import {pressing, stateOf, type Step} from './_harness.js';
import {createScene} from './_world.js';

const never = (): never => {
	throw new Error('Nothing else is pressed');
};

async function controllerIn(steps: readonly Step[], more: Partial<Settings> = {}) {
	const store = createStateStore(await stateOf(await createScene(), {columns: 120, rows: 32}, more, steps));
	let suspensions = 0;
	const controller = createController(
		store,
		{} as unknown as CommandRunner,
		{
			quit: never,
			refresh: never,
			broken: never,
			suspend() {
				suspensions++;
			},
		},
		createMouseTargets(),
	);
	return {store, press: controller.press, suspensions: () => suspensions};
}

const controlZ = {ctrl: true} as unknown as Key;

test.each([
	['a panel', []],
	['a form', [pressing(reserve)]],
	['a question, which stays unanswered', [pressing(release)]],
	['a filter', ['open-filter']],
	['the help', ['open-help']],
] as const)('Ctrl-Z in top returns to the shell from %s', async (_, steps) => {
	const {store, press, suspensions} = await controllerIn(steps);
	const {dialog, gpus} = store.getState();
	press('z', controlZ);
	expect(suspensions()).toBe(1);
	expect(store.getState().dialog).toBe(dialog);
	expect(store.getState().gpus).toBe(gpus);
});

test('Ctrl-Z can be removed or replaced, and the new key does not suspend top while a form is open', async () => {
	const without = await controllerIn([pressing(reserve)], {keys: new Map([['suspend', []]])});
	without.press('z', controlZ);
	expect(without.suspensions()).toBe(0);
	const chosen = await controllerIn([pressing(reserve)], {keys: new Map([['suspend', ['9']]])});
	chosen.press('9', {} as unknown as Key);
	expect(chosen.suspensions()).toBe(0);
});
