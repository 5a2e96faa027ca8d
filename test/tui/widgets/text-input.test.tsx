import {render} from 'ink-testing-library';
import {expect, test} from 'vitest';
import {TextInput} from '../../../source/tui/widgets/text-input.js';

test('the caret of a field stays in view behind wide characters', () => {
	const value = '日本語'.repeat(5);
	const shown = (caret: number): string =>
		render(<TextInput field={{value, caret, isPreset: false}} width={12} />).lastFrame()!;
	expect(shown(15)).toMatch(/語█ *$/v);
	expect(shown(0)).toMatch(/^日本/v);
	for (let caret = 0; caret <= 15; caret++) {
		expect(shown(caret)).toMatch(/[█日本語]/v);
	}
});
