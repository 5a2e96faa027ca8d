import {Text} from 'ink';
import {expect, test} from 'vitest';
import {Sparkline} from '../../../source/tui/widgets/sparkline.js';
import {drawn, painted} from '../_drawn.js';

const values = [0, 0.01, 0.3, 0.5, undefined, 0.99, 1];

test('Sparkline draws one character for each value, and a blank for an unknown value', () => {
	expect(drawn(<Sparkline values={values} />)).toBe('▁▂▃▅ ██');
});

test('Sparkline in ASCII mode draws only ASCII characters', () => {
	expect(drawn(<Sparkline values={values} />, {isAscii: true})).toBe('.__- ##');
});

test('Sparkline without values is empty', () => {
	expect(drawn(<Sparkline values={[]} />)).toBe('');
});

test('Sparkline draws each value in the color of its load', () => {
	expect(painted(<Sparkline values={[0.1, 0.2, 0.7, 1]} />, 'dark')).toBe(
		painted(
			<Text>
				<Text color="green">▂▂</Text>
				<Text color="yellow">▆</Text>
				<Text color="red">█</Text>
			</Text>,
			'dark',
		),
	);
});
