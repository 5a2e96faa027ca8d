import {Text} from 'ink';
import {expect, test} from 'vitest';
import {Hint} from '../../../source/tui/widgets/hint.js';
import {drawn, painted} from '../_drawn.js';

test('Hint draws a key and its word', () => {
	expect(drawn(<Hint name="Space" word="Tag" />)).toBe('Space Tag');
});

test('Hint colors only the key, and is faint as a whole if the key has no effect', () => {
	expect(painted(<Hint name="r" word="Reserve" />, 'dark')).toBe(
		painted(
			<Text>
				<Text bold color="cyan">
					r
				</Text>{' '}
				Reserve
			</Text>,
			'dark',
		),
	);
	expect(painted(<Hint isDisabled name="r" word="Reserve" />, 'dark')).toBe(
		painted(<Text dimColor>r Reserve</Text>, 'dark'),
	);
});
