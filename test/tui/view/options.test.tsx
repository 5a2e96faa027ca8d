/** The options dialog: its rows, the preview, and what Enter and Escape do. */
import chalk from 'chalk';
import {Box} from 'ink';
import {afterEach, expect, test} from 'vitest';
import {OptionsDialog} from '../../../source/tui/dialogs/options.js';
import {Screen} from '../../../source/tui/screens/screen.js';
import type {State} from '../../../source/tui/state/state.js';
import {createStateStore} from '../../../source/tui/state/store.js';
import {StoreContext} from '../../../source/tui/state/use-monitor.js';
import {optionLines, presentOptions, shownAppearance} from '../../../source/tui/state/view/options.js';
import type {OptionsDialog as Options} from '../../../source/tui/state/view/state.js';
import {themeOf} from '../../../source/tui/theme.js';
import {
	after,
	drawnBy,
	endSession,
	frameOf,
	keys,
	startMonitor,
	stateOf,
	type Session,
	type Step,
} from '../_harness.js';
import {eventsArrived, pastOf} from '../_scene.js';
import {createScene} from '../_world.js';
import {drawn, lines} from '../_drawn.js';

let session: Session | undefined;

afterEach(async () => {
	await endSession(session);
	session = undefined;
});

const size = {columns: 100, rows: 24};

const open = async (...steps: readonly Step[]): Promise<State> =>
	stateOf(await createScene(), size, {hasColor: true, hasMouse: true}, ['open-options', ...steps]);

/** Returns the lines of the dialog alone. */
const dialogOf = (state: State): readonly string[] =>
	drawn(
		<StoreContext value={createStateStore(state)}>
			<Box width={100} height={20}>
				<OptionsDialog {...(state.dialog as Options)} />
			</Box>
		</StoreContext>,
	)
		.split('\n')
		.map((line) => line.trim())
		.filter((line) => line !== '');

test('the options dialog shows the value in effect next to a changed value', async () => {
	expect(dialogOf(await open())).toEqual([
		'╭─ Options ──────────────────────────────────────────────────────╮',
		'│ > Theme     < auto >                                           │',
		'│   Interval    2s                                               │',
		'│   Graphs      braille                                          │',
		'│   Mouse       on                                               │',
		'│   Preset      default                                          │',
		'│   Columns     usual                                            │',
		'│                                                                │',
		'│   follows the background of the terminal                1 of 8 │',
		'│                                                                │',
		'│   S saves your changes to your config for next time            │',
		'╰────────────────────────────────────────────────────────────────╯',
	]);
	const changed = dialogOf(await open('previous-choice', 'next-option', 'next-choice', 'next-choice'));
	expect([...changed.slice(1, 3), changed[8]]).toEqual([
		'│   Theme       terminal               now auto                  │',
		'│ > Interval  < 10s >                  now 2s                    │',
		'│   time between two scans of the GPUs                    5 of 7 │',
	]);
});

test('a screen reader gets the options as lines', async () => {
	const state = await stateOf(await createScene(), size, {isLinear: true, hasColor: true}, ['open-options']);
	expect(frameOf(state)).toBe(
		lines(
			'Options:',
			'> Theme     < auto >',
			'  Interval    2s',
			'  Graphs      braille',
			'  Preset      default',
			'  Columns     usual',
			'',
			'  follows the background of the terminal'.padEnd(92) + '  1 of 8',
			'',
			'  S saves your changes to your config for next time',
			'Keys: Enter Apply  S Save  Up Down Choose  Left Right Change  Esc Cancel',
		),
	);
});

test.each(['60x15', '80x24', '120x32', '200x50'] as const)(
	'top draws the whole screen at %s with the options dialog open',
	async (name) => {
		const [columns = 0, rows = 0] = name.split('x').map(Number);
		const box = await createScene();
		const steps = [eventsArrived, 'open-themes', 'next-choice', 'next-choice', 'next-choice', 'next-choice'] as const;
		const text = frameOf(await stateOf(box, {columns, rows}, {hasColor: true, hasMouse: true}, steps, pastOf(box)));
		expect(text.split('\n')).toHaveLength(rows);
		expect(text.split('\n').at(-1)).toContain('Enter Apply');
		await expect(`\n${text}\n`).toMatchFileSnapshot(`../frames/${name}/dialogs/options.txt`);
	},
);

test('the options dialog offers only the options that the current terminal and pool support', async () => {
	const names = (state: State): readonly string[] => optionLines(state).map(({label}) => label);
	const box = await createScene();
	expect(names(await stateOf(box, size, {}, ['open-options']))).toEqual([
		'Theme',
		'Interval',
		'Graphs',
		'Preset',
		'Columns',
	]);
	const hosts = await stateOf(box, size, {hasMouse: true, hasNoPool: true}, ['open-options', 'previous-option']);
	expect(names(hosts)).toEqual(['Theme', 'Graphs', 'Mouse']);
	expect((hosts.dialog as Options).selected).toBe('isMouseOn');
});

test('the options dialog shows whether the columns are the default or chosen', async () => {
	const chosen = await stateOf(await createScene(), size, {}, [
		'open-columns',
		'next-column',
		'toggle-column',
		'close-dialog',
		'open-options',
		'previous-option',
	]);
	expect(dialogOf(chosen).at(-6)).toContain('> Columns   < 12 chosen >');
	const usual = after(chosen, 'next-choice');
	expect(dialogOf(usual).at(-6)).toMatch(/> Columns {3}< usual > +now 12 chosen/v);
	expect((after(usual, 'next-choice').dialog as Options).values.columns).toBe(chosen.view.columns);
});

/** Returns the whole screen with its escape codes. */
function painted(state: State): string {
	const {level} = chalk;
	chalk.level = 3;
	try {
		return drawnBy(state, <Screen />);
	} finally {
		chalk.level = level;
	}
}

test('the screen previews the theme and graphs of the options dialog, and Escape restores both', async () => {
	const more = {hasColor: true, hasGradients: true, terminalColors: '15;0'};
	const before = await stateOf(await createScene(), size, more);
	const light = after(before, 'open-themes', 'next-choice', 'next-choice');
	expect([before, light].map((state) => themeOf(shownAppearance(state)))).toEqual(['dark-gradient', 'light-gradient']);
	const head = (state: State): string => painted(state).split('\n', 1)[0]!;
	expect(head(light)).not.toBe(head(before));
	const blocks = after(light, 'next-option', 'next-option', 'next-choice');
	expect(shownAppearance(blocks).graphs).toBe('blocks');
	const restored = after(blocks, 'close-dialog');
	expect(painted(restored)).toBe(painted(before));
	expect(presentOptions(restored)).toEqual(presentOptions(before));
});

test('Escape in the options dialog restores the theme, and Enter applies it', async () => {
	session = startMonitor(await createScene(), {size, hasColor: true, hasMouse: true});
	const {press, shows, hides, store} = session;
	const theme = (): string => themeOf(shownAppearance(store.getState()));
	await shows(/> 0 +Mine/v);
	await press('T', keys.right, keys.right);
	await shows(/Theme +< light > +now auto/v);
	expect(theme()).toBe('light');
	await press(keys.escape);
	await hides('Options');
	expect(theme()).toBe('dark');
	await press('O', keys.left, keys.down, keys.down, keys.right, keys.down, keys.down, keys.right);
	await shows(/> Preset +< dense >/v);
	expect([theme(), store.getState().view.preset]).toEqual(['dark', 'default']);
	await press(keys.enter);
	await shows('OK Until this monitor ends: theme terminal, graphs blocks, preset dense');
	expect(store.getState()).toMatchObject({
		dialog: undefined,
		settings: {theme: 'terminal', graphs: 'blocks', scheme: 'terminal'},
		view: {preset: 'dense'},
	});
	// Enter without a change shows no message.
	await press('O', keys.enter);
	await hides('Options');
	expect(store.getState().isMouseOn).toBe(true);
});

test('a click in the options dialog selects a row, and a click on an arrow changes its value', async () => {
	session = startMonitor(await createScene(), {size, hasMouse: true});
	const {press, shows, mouse, screen} = session;
	const click = async (text: string, offset = 0): Promise<void> => {
		await shows(text);
		const rows = screen().split('\n');
		const row = rows.findIndex((line) => line.includes(text));
		await mouse({kind: 'click', row, column: rows[row]!.indexOf(text) + offset});
	};

	await shows(/> 0 +Mine/v);
	await press('O');
	await click('Mouse');
	await shows('> Mouse     < on >');
	await click('< on >', 5);
	await shows(/> Mouse +< off > +now on/v);
	await click('< off >');
	await shows('> Mouse     < on >');
	// The panel behind the dialog gets no click.
	await click('for next time');
	await shows('> Mouse     < on >');
});

test('the key ? lists the keys that open the options dialog', async () => {
	const help = frameOf(await stateOf(await createScene(), {columns: 120, rows: 32}, {}, ['open-help']));
	expect(help).toMatch(/O T +options, themes/v);
});
