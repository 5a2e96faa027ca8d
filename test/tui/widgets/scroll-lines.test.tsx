import {render} from 'ink-testing-library';
import {expect, test, vi} from 'vitest';
import {Label} from '../../../source/tui/widgets/label.js';
import {firstLine, ScrollLines} from '../../../source/tui/widgets/scroll-lines.js';
import {drawn, lines} from './_drawn.js';

const content = ['one', 'two', 'three', 'four'].map((word) => <Label key={word}>{word}</Label>);
const nothing = (): void => undefined;

test('a scrolled list shows as many lines as it has rows, from the wanted one on', () => {
	expect(drawn(<ScrollLines lines={content} rows={2} scroll={1} onBeyond={nothing} />)).toBe(lines('two', 'three'));
});

test('a list scrolled too far shows its last lines and reports where they begin', async () => {
	const onBeyond = vi.fn<(first: number) => void>();
	const {lastFrame, unmount} = render(<ScrollLines lines={content} rows={3} scroll={9} onBeyond={onBeyond} />);
	expect(lastFrame()).toBe(lines('two', 'three', 'four'));
	await vi.waitFor(
		() => {
			expect(onBeyond).toHaveBeenCalledExactlyOnceWith(1);
		},
		{timeout: 20_000},
	);
	unmount();
});

test('a list with room for all its lines begins with the first one', () => {
	expect(firstLine(3, 4, 9)).toBe(0);
	expect(firstLine(3, 0, 9)).toBe(0);
	expect(firstLine(1, 4, 2)).toBe(1);
});
