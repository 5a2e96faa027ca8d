import {expect, test} from 'vitest';
import {edit, fieldOf, insert, presetField} from '../../../source/tui/state/text-field.js';

test('the first character replaces a suggestion, the next are added', () => {
	expect(insert(insert(presetField('8h'), '4'), 'h')).toEqual({value: '4h', caret: 2, isPreset: false});
});

test('moving into a suggestion keeps it', () => {
	expect(insert(edit(presetField('8h'), 'caret-start'), '1').value).toBe('18h');
});

test('backspace removes a suggestion at once', () => {
	expect(edit(presetField('8h'), 'delete-before')).toEqual({value: '', caret: 0, isPreset: false});
});

test('edits at the caret, by whole code points', () => {
	const field = edit(fieldOf('a🚀b'), 'caret-left');
	expect(edit(field, 'delete-before')).toEqual({value: 'ab', caret: 1, isPreset: false});
	expect(edit(field, 'delete-after').value).toBe('a🚀');
	expect(edit(edit(field, 'caret-start'), 'delete-before').value).toBe('a🚀b');
	expect(edit(edit(field, 'caret-end'), 'caret-right').caret).toBe(3);
	expect(edit(field, 'clear-field').value).toBe('');
});

test('a note has a maximum length', () => {
	expect([...insert(fieldOf('x'.repeat(190)), 'y'.repeat(50)).value]).toHaveLength(200);
});
