import {Chalk} from 'chalk';
import {Box} from 'ink';
import {expect, test} from 'vitest';
import {TextInput} from '../../../source/tui/widgets/text-input.js';
import {fieldOf, presetField} from '../../../source/tui/state/text-field.js';
import {drawn, painted} from '../_drawn.js';

const chalk = new Chalk({level: 1});

test('TextInput draws the caret as a block after the text, or inverts the character at the caret', () => {
	expect(drawn(<TextInput field={fieldOf('abc')} width={12} />)).toBe('abc█');
	expect(painted(<TextInput field={{...fieldOf('abc'), caret: 1}} width={12} />, 'dark')).toBe(
		`a${chalk.inverse('b')}c`,
	);
});

test('TextInput in ASCII mode draws the caret as an underscore', () => {
	expect(drawn(<TextInput field={fieldOf('abc')} width={12} />, {isAscii: true})).toBe('abc_');
});

test('TextInput with an empty field shows only the caret, even for a suggested value', () => {
	expect(drawn(<TextInput field={fieldOf('')} width={12} />)).toBe('█');
	expect(drawn(<TextInput field={presetField('')} width={12} />)).toBe('█');
});

test('TextInput marks a suggested value as a whole, because the first typed character replaces it', () => {
	expect(painted(<TextInput field={presetField('2h')} width={12} />, 'dark')).toBe(chalk.inverse('2h'));
});

test('TextInput without focus shows no caret and no marks for text that is cut off', () => {
	expect(painted(<TextInput field={fieldOf('abc')} width={12} isFocused={false} />, 'dark')).toBe('abc');
	expect(painted(<TextInput field={presetField('2h')} width={12} isFocused={false} />, 'dark')).toBe('2h');
});

test('TextInput shows the part of a long text around the caret', () => {
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

test('TextInput keeps the caret in view after wide characters', () => {
	const value = '日本語'.repeat(5);
	const shown = (caret: number): string => drawn(<TextInput field={{value, caret, isPreset: false}} width={12} />);
	expect(shown(15)).toMatch(/語█ *$/v);
	expect(shown(0)).toMatch(/^日本/v);
	for (let caret = 0; caret <= 15; caret++) {
		expect(shown(caret)).toMatch(/[█日本語]/v);
	}
});
