import {readFileSync} from 'node:fs';
import fc from 'fast-check';
import {afterEach, expect, test} from 'vitest';
import {checkSetting, checkText} from '../../../source/config/schema.js';
import {panelNames} from '../../../source/tui/state/panels/state.js';
import {bindings, intentOf} from '../../../source/tui/keys/bindings.js';
import {actions, bindingsWith} from '../../../source/tui/keys/custom.js';
import {release} from '../../../source/tui/commands/reservations/release.js';
import {endSession, startMonitor, type Session} from '../_harness.js';
import {createScene} from '../_world.js';

let session: Session | undefined;

afterEach(async () => {
	await endSession(session);
	session = undefined;
});

const choose = (keys: Readonly<Record<string, readonly string[]>>) => bindingsWith(new Map(Object.entries(keys)));

test('the help topic "monitor" names every action that can have keys', () => {
	const text = readFileSync('source/help/monitor.md', 'utf8');
	const named = new Set(text.matchAll(/`(?<name>[\-a-z]+)`/gv).map(({groups}) => groups!['name']!));
	expect(
		actions()
			.keys()
			.filter((name) => !named.has(name))
			.toArray(),
	).toEqual([]);
});

test('top.keys replaces the default key of an action, also in the help and the footer', async () => {
	const keys = new Map([
		['release', ['D']],
		['search-next', ['F', 'ctrl-n']],
		['focus-next-row', ['down', 'Space']],
		['toggle-tag', []],
	]);
	session = startMonitor(await createScene(), {size: {columns: 120, rows: 32}, keys});
	await session.shows(/> 0 +Mine/v);
	await session.shows('D Release');
	expect(session.screen()).not.toContain('Tag');
	await session.press('x');
	expect(session.store.getState().dialog).toBeUndefined();
	await session.press('D');
	await session.shows('Release GPU 0');
	await session.press('n');
	await session.press(' ');
	await session.shows(/> 1 +Free/v);
	await session.press('?');
	await session.shows(/D +release GPUs/v);
	await session.shows(/f F Ctrl-N N/v);
});

test('top.keys refuses to give one key two meanings in a panel and names the conflict', () => {
	const names = actions().keys().toArray();
	const chosen = fc.dictionary(
		fc.constantFrom(...names),
		fc.array(fc.constantFrom('D', 'x', 'r', 'enter', 'space', 'ctrl-d', 'j', 'Esc', '['), {maxLength: 3}),
		{maxKeys: 3},
	);
	fc.assert(
		fc.property(chosen, (keys) => {
			let made;
			try {
				made = choose(keys);
			} catch (error) {
				expect(error).toMatchObject({
					code: 'config',
					message: expect.stringMatching(/is the key of both \S+ and \S+$/v) as unknown,
				});
				return;
			}

			for (const mode of panelNames) {
				const meanings = new Map<string, unknown>();
				for (const {keys: some, intent} of made.filter(({modes}) => modes.includes(mode))) {
					for (const key of some) {
						expect(meanings.get(key) ?? intent).toBe(intent);
						meanings.set(key, intent);
					}
				}

				// Ctrl-C always quits.
				expect(intentOf(mode, 'ctrl-c', made)).toBe('quit-now');
			}
		}),
	);
});

test('top.keys with an invalid key or action fails with the valid choices', () => {
	const problem = (keys: Readonly<Record<string, readonly string[]>>): string => {
		try {
			choose(keys);
			return '';
		} catch (error) {
			return (error as Error).message;
		}
	};

	expect(problem({release: ['D'], reserve: ['D']})).toBe('top.keys: D is the key of both reserve and release');
	expect(problem({relase: ['D']})).toBe('top.keys: there is no action called "relase"');
	expect(problem({release: ['F13']})).toBe('top.keys: "F13" cannot be a key for release');
	expect(problem({release: ['ctrl-c']})).toBe('top.keys: "ctrl-c" cannot be a key for release');
	// Two actions can swap their keys.
	expect(problem({release: ['e'], extend: ['x']})).toBe('');
	expect(intentOf('gpus', 'e', choose({release: ['e'], extend: ['x']}))).toBe(release);
	expect(bindingsWith(undefined)).toBe(bindings);
});

test('a key of top.keys wins over the default key of another action, but only in the panels of its own action', async () => {
	const keys = new Map([
		['release', ['r']],
		['zoom', ['H', 'z']],
	]);
	const made = bindingsWith(keys);
	expect(intentOf('gpus', 'r', made)).toBe(release);
	expect(intentOf('queue', 'r', made)).toBe(intentOf('queue', 'r'));
	expect([intentOf('gpus', 'H', made), intentOf('gpus', '7', made)]).toEqual(['zoom', 'focus-hosts']);
	session = startMonitor(await createScene(), {size: {columns: 120, rows: 32}, keys});
	await session.shows('r Release');
	expect(session.screen()).not.toContain('r Reserve');
	await session.press('r');
	await session.shows('Release GPU 0');
	await session.press('n', '3');
	await session.shows('r Reserve');
	await session.press('?');
	await session.shows(/ 7 +GPUs of all hosts/v);
});

test('top.keys can be a map or a text, in which a number means a digit key', () => {
	expect(checkSetting('top.keys', {release: 'D', 'search-next': ['n', 'F'], 'focus-table': 1})).toEqual({
		value: new Map([
			['release', ['D']],
			['search-next', ['n', 'F']],
			['focus-table', ['1']],
		]),
	});
	expect(checkText('top.keys', 'release=D,extend==')).toEqual({
		value: new Map([
			['release', ['D']],
			['extend', ['=']],
		]),
	});
	expect(checkSetting('top.keys', ['D'])).toMatchObject({
		expected: expect.stringContaining('a map from actions to keys') as unknown,
	});
	expect(checkText('top.keys', 'D')).toMatchObject({
		expected: expect.stringContaining('a map from actions to keys') as unknown,
	});
});
