import {Text} from 'ink';
import {expect, test} from 'vitest';
import {Hint} from '../../../source/tui/widgets/hint.js';
import {drawn, painted} from './_drawn.js';

test('a hint is a key and its word', () => {
	expect(drawn(<Hint name="Space" word="Tag" />)).toBe('Space Tag');
});

test('a hint colors the key only, and is faint as a whole when the key does nothing', () => {
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
