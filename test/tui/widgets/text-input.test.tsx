import {Chalk} from 'chalk';
import {Box} from 'ink';
import {expect, test} from 'vitest';
import {TextInput} from '../../../source/tui/widgets/text-input.js';
import {fieldOf, presetField} from '../../../source/tui/state/text-field.js';
import {drawn, painted} from './_drawn.js';

const chalk = new Chalk({level: 1});

test('the caret is a block behind the text, and marks the character it is on', () => {
	expect(drawn(<TextInput field={fieldOf('abc')} width={12} />)).toBe('abc█');
	expect(painted(<TextInput field={{...fieldOf('abc'), caret: 1}} width={12} />, 'dark')).toBe(
		`a${chalk.inverse('b')}c`,
	);
});

test('the caret is an underscore in ASCII', () => {
	expect(drawn(<TextInput field={fieldOf('abc')} width={12} />, {isAscii: true})).toBe('abc_');
});

test('an empty field shows the caret alone, even as a preset', () => {
	expect(drawn(<TextInput field={fieldOf('')} width={12} />)).toBe('█');
	expect(drawn(<TextInput field={presetField('')} width={12} />)).toBe('█');
});

test('a preset is marked as a whole, since the first character typed replaces it', () => {
	expect(painted(<TextInput field={presetField('2h')} width={12} />, 'dark')).toBe(chalk.inverse('2h'));
});

test('a field without the focus has no caret and no marks', () => {
	expect(painted(<TextInput field={fieldOf('abc')} width={12} isFocused={false} />, 'dark')).toBe('abc');
	expect(painted(<TextInput field={presetField('2h')} width={12} isFocused={false} />, 'dark')).toBe('2h');
});

test('a text that is too long shows the part around the caret', () => {
	const shown = (caret: number): string =>
		drawn(
			<Box width={8}>
				<TextInput field={{...fieldOf('abcdefghijkl'), caret}} width={8} />
			</Box>,
		);
	expect(shown(12)).toBe('fghijkl█');
	expect(shown(9)).toBe('cdefghi…');
	expect(shown(0)).toBe('abcdefg…');
});

test('the caret of a field stays in view behind wide characters', () => {
	const value = '日本語'.repeat(5);
	const shown = (caret: number): string => drawn(<TextInput field={{value, caret, isPreset: false}} width={12} />);
	expect(shown(15)).toMatch(/語█ *$/v);
	expect(shown(0)).toMatch(/^日本/v);
	for (let caret = 0; caret <= 15; caret++) {
		expect(shown(caret)).toMatch(/[█日本語]/v);
	}
});
