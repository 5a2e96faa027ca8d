import {expect, test} from 'vitest';
import {changed, edit, fieldOf, insert, presetField} from '../../../source/tui/state/text-field.js';

test('the first typed character replaces a suggested value, and later characters are appended', () => {
	expect(insert(insert(presetField('8h'), '4'), 'h')).toEqual({value: '4h', caret: 2, isPreset: false});
});

test('moving the caret into a suggested value keeps the value', () => {
	expect(insert(edit(presetField('8h'), 'caret-start'), '1').value).toBe('18h');
});

test('backspace removes a suggested value at once', () => {
	expect(edit(presetField('8h'), 'delete-before')).toEqual({value: '', caret: 0, isPreset: false});
});

test('a text field is edited at the caret, by whole code points', () => {
	const field = edit(fieldOf('a🚀b'), 'caret-left');
	expect(edit(field, 'delete-before')).toEqual({value: 'ab', caret: 1, isPreset: false});
	expect(edit(field, 'delete-after').value).toBe('a🚀');
	expect(edit(edit(field, 'caret-start'), 'delete-before').value).toBe('a🚀b');
	expect(edit(edit(field, 'caret-end'), 'caret-right').caret).toBe(3);
	expect(edit(field, 'clear-field').value).toBe('');
});

test('a text field keeps at most 200 characters', () => {
	expect([...insert(fieldOf('x'.repeat(190)), 'y'.repeat(50)).value]).toHaveLength(200);
});

test('typed text loses its control characters, and control sequences alone leave a suggested value', () => {
	expect(changed(fieldOf(''), {text: 'a\u{1B}[31mb\u{202E}c\n'}).value).toBe('ab c ');
	expect(changed(presetField('8h'), {text: '\u{1B}[31m'}).value).toBe('8h');
});
