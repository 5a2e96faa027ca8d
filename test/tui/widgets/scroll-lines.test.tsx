import {render} from 'ink-testing-library';
import {expect, test, vi} from 'vitest';
import {Label} from '../../../source/tui/widgets/label.js';
import {firstLine, ScrollLines} from '../../../source/tui/widgets/scroll-lines.js';
import {drawn, lines} from './_drawn.js';

const content = ['one', 'two', 'three', 'four'].map((word) => <Label key={word}>{word}</Label>);
const nothing = (): void => undefined;

test('ScrollLines shows as many lines as it has rows, from the scroll position on', () => {
	expect(drawn(<ScrollLines lines={content} rows={2} scroll={1} onBeyond={nothing} />)).toBe(lines('two', 'three'));
});

test('ScrollLines that is scrolled too far shows its last lines and reports the new position', async () => {
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

test('firstLine is 0 if all lines fit, and at most the start of the last page', () => {
	expect(firstLine(3, 4, 9)).toBe(0);
	expect(firstLine(3, 0, 9)).toBe(0);
	expect(firstLine(1, 4, 2)).toBe(1);
});
