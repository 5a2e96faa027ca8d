import {render} from 'ink-testing-library';
import {Box} from 'ink';
import {expect, test, vi} from 'vitest';
import {Clickable, KeyButton, KeyContext} from '../../../source/tui/mouse/clickable.js';
import {createMouseTargets, MouseContext} from '../../../source/tui/mouse/mouse-context.js';
import {Label} from '../../../source/tui/widgets/label.js';

const click = (column: number) => ({kind: 'click', column, row: 0}) as const;

test('Clickable and KeyButton draw their content and handle only clicks inside of it', () => {
	const targets = createMouseTargets();
	const onClick = vi.fn<() => void>();
	const press = vi.fn<(name: string) => void>();
	const {lastFrame, unmount} = render(
		<MouseContext value={targets}>
			<KeyContext value={press}>
				<Box gap={2}>
					<Clickable onClick={onClick}>
						<Label>click</Label>
					</Clickable>
					<KeyButton name="escape">
						<Label>key</Label>
					</KeyButton>
				</Box>
			</KeyContext>
		</MouseContext>,
	);
	expect(lastFrame()).toBe('click  key');
	expect([4, 5, 9, 10].map((column) => targets.send(click(column)))).toEqual([true, false, true, false]);
	expect(onClick).toHaveBeenCalledTimes(1);
	expect(press.mock.calls).toEqual([['escape']]);
	unmount();
	expect(targets.send(click(4))).toBe(false);
});
