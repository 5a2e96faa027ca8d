import {expect, test} from 'vitest';
import {glyphsOf} from '../../../source/tui/widgets/drawing.js';
import {fieldSpans} from '../../../source/tui/widgets/field.js';
import {lineText} from '../../../source/tui/widgets/styled-text.js';

test('the caret of a field stays in view behind wide characters', () => {
	const glyphs = glyphsOf({settings: {isAscii: false}});
	const value = '日本語'.repeat(5);
	const shown = (caret: number) => lineText(fieldSpans({value, caret, isPreset: false}, 12, glyphs));
	expect(shown(15)).toMatch(/語█ *$/v);
	expect(shown(0)).toMatch(/^日本/v);
	for (let caret = 0; caret <= 15; caret++) {
		expect(
			fieldSpans({value, caret, isPreset: false}, 12, glyphs).some(
				({text, tone}) => text === glyphs.caret || (tone === 'marked' && text !== ''),
			),
		).toBe(true);
	}
});
