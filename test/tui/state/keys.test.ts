import type {Key} from 'ink';
import {expect, test} from 'vitest';
import {keyNames} from '../../../source/tui/keys/key-names.js';
import {panelNames} from '../../../source/tui/state/panels/state.js';
import {bindings, intentOf} from '../../../source/tui/keys/bindings.js';

const plain = Object.fromEntries(
	[
		'upArrow',
		'downArrow',
		'leftArrow',
		'rightArrow',
		'pageDown',
		'pageUp',
		'home',
		'end',
		'return',
		'escape',
		'ctrl',
		'shift',
		'tab',
		'backspace',
		'delete',
		'meta',
		'super',
		'hyper',
		'capsLock',
		'numLock',
	].map((name) => [name, false]),
) as unknown as Key;

test('each key has one meaning in each panel and dialog', () => {
	for (const mode of [...panelNames, 'filter', 'form', 'confirmation', 'help', 'columns', 'options'] as const) {
		const used = bindings.filter(({modes}) => modes.includes(mode)).flatMap(({keys}) => keys);
		expect(used).toEqual([...new Set(used)]);
	}
});

test('every key in the footer works in its panel or dialog', () => {
	for (const {modes, keys, intent} of bindings.filter(({footer}) => footer !== undefined)) {
		for (const mode of modes) {
			expect(keys.map((key) => intentOf(mode, key))).toEqual(keys.map(() => intent));
		}
	}
});

test('the keys j and k move the selection in the GPU table', () => {
	expect(intentOf('gpus', 'j')).toBe('line-down');
	expect(intentOf('gpus', 'k')).toBe('line-up');
});

test('keyNames names special keys, and splits fast typing into characters', () => {
	expect(keyNames('4h\r', plain)).toEqual(['4', 'h', 'enter']);
	expect(keyNames('', {...plain, tab: true, shift: true})).toEqual(['shift-tab']);
	expect(keyNames('d', {...plain, ctrl: true})).toEqual(['ctrl-d']);
	expect(keyNames('x', {...plain, meta: true})).toEqual(['escape', 'x']);
	expect(keyNames('', {...plain, meta: true, return: true})).toEqual(['escape', 'enter']);
	expect(keyNames('', {...plain, meta: true, upArrow: true})).toEqual(['up']);
	expect(keyNames('', {...plain, pageDown: true})).toEqual(['pagedown']);
	expect(keyNames('x', {...plain, eventType: 'release'})).toEqual([]);
});
