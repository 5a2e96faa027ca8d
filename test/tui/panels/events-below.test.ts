/** Events below a short queue, in the lines that the queue does not need. */
import {expect, test} from 'vitest';
import {layoutOf} from '../../../source/tui/layout.js';
import {after, frameOf, shownRows, stateOf} from '../_harness.js';
import {eventsArrived, pastOf} from '../_scene.js';
import {createScene, waiter} from '../_world.js';

const size = {columns: 120, rows: 30};

test('the events are drawn below a short queue if the events panel does not fit elsewhere', async () => {
	const box = await createScene();
	const state = await stateOf(box, size, {}, [eventsArrived], pastOf(box));
	const frame = frameOf(state);
	await expect(`\n${frame}\n`).toMatchFileSnapshot('../frames/120x30/plain.txt');
	const stacks = layoutOf(state).blocks.map((block) => block.map((stack) => stack.map(({panel}) => panel)));
	expect(stacks).toEqual([[['gpus']], [['queue', 'events'], ['detail']]]);

	// The keys reach the events there, and the detail and the queue keep their places.
	const focused = after(state, {kind: 'focus-events'});
	expect(layoutOf(focused)).toEqual(layoutOf(state));
});

test('a long queue fills its column and leaves no room for events', async () => {
	const box = await createScene();
	await box.write({kind: 'join', entry: waiter('grace')}, {kind: 'join', entry: waiter('alan')});
	const state = await stateOf(box, size, {}, [eventsArrived]);
	expect(shownRows(state).events).toBeUndefined();
	expect(frameOf(state)).not.toContain('5:Events');
});
