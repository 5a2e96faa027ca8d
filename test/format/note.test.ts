import {expect, test} from 'vitest';
import {noteCell, noteWords, shownVia} from '../../source/format/text/note.js';

test('noteWords returns the note, followed by how the request was made, such as "via mcp"', () => {
	expect(noteWords({note: 'eval', via: 'mcp claude-code'})).toBe('eval (via mcp claude-code)');
	expect(noteWords({via: 'mcp'})).toBe('via mcp');
	expect(noteWords({note: 'eval'})).toBe('eval');
	expect(noteWords({})).toBe('');
	expect([noteCell({}, 5), noteCell({note: 'evaluation'}, 5)]).toEqual(['-', 'eval…']);
});

test('noteWords sanitizes and shortens an interface name from somebody else', () => {
	expect(noteWords({via: '\u{1B}[31mmcp\u{202E} x'})).toBe('via mcp x');
	expect(shownVia('x'.repeat(1e6))!.length).toBe(64);
});
