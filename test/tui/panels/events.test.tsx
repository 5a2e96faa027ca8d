import {expect, test} from 'vitest';
import {EventsPanel} from '../../../source/tui/panels/events.js';
import {drawn, lines} from '../_drawn.js';
import {stateOf, type Step} from '../_harness.js';
import {eventsArrived} from '../_scene.js';
import {createBox} from '../_world.js';

const box = await createBox(1);

const panel = async (steps: readonly Step[], drawing = {}): Promise<string> =>
	drawn(<EventsPanel width={46} rows={3} />, {
		state: await stateOf(box, {columns: 100, rows: 30}, {}, steps),
		...drawing,
	});

test('EventsPanel shows the newest events first, with their time and level', async () => {
	expect(await panel([eventsArrived])).toBe(
		lines(
			'╭─ 5:Events ────────────────────── 1-3 of 4 ─╮',
			'│ 14:32:05 alice released GPU 2              │',
			'│ 14:31:12 WARN dave uses GPU 6 without a re…│',
			'│ 14:09:57 erin joined the queue for GPU 3   │',
			'╰────────────────────────────────────────────╯',
		),
	);
});

test('EventsPanel scrolls to the oldest event, and not beyond it', async () => {
	const scrolled = await panel([eventsArrived, 'focus-events', 'last-line']);
	expect(scrolled.split('\n', 1)[0]).toBe('╭─ 5:Events ────────────────────── 2-4 of 4 ─╮');
	expect(scrolled).toContain('13:19:57 alice got GPU 0 · eval 70B');
});

test.each([
	['no events', [], 'nothing has happened yet'],
	['events that cannot be read', [{kind: 'events-lost', reason: 'the store\u{1B}[31m is away'}], 'the store is away'],
] as const)('EventsPanel with %s', async (_, steps, expected) => {
	expect((await panel(steps)).split('\n', 2)[1]).toBe(`│ ${expected.padEnd(43)}│`);
});
