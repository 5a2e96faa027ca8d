import {expect, test} from 'vitest';
import {Footer, footerHints} from '../../../source/tui/panels/footer.js';
import {after, stateOf, textOf} from '../_harness.js';
import {busy, createBox, gpuReading} from '../_world.js';

/** Alice runs something on GPU 0, and no GPU is reserved. */
const createSquatted = async () => {
	const reading = busy(0, 'alice', 'python train.py', {gibibytes: 10, percent: 50});
	return createBox(2, {
		readings: [{...reading, processes: reading.processes!.map((each) => ({...each, startTicks: 777}))}, gpuReading(1)],
	});
};

const footersOf = async (columns: number): Promise<readonly string[]> => {
	const onOwn = await stateOf(await createSquatted(), {columns, rows: 24});
	return [onOwn, after(onOwn, 'line-down')].map((state) => textOf(state, <Footer />));
};

test('the footer shows "R Adopt" at every width if a process of the user uses the GPU without a reservation', async () => {
	expect(await Promise.all([60, 80, 100, 120].map(async (columns) => footersOf(columns)))).toMatchInlineSnapshot(`
		[
		  [
		    " r Reserve  R Adopt  x Release  w Wait  ? Help  q Quit",
		    " r Reserve  x Release  e Extend  w Wait  ? Help  q Quit",
		  ],
		  [
		    " r Reserve  R Adopt  x Release  e Extend  w Wait  Enter Detail  ? Help  q Quit",
		    " r Reserve  x Release  e Extend  w Wait  Enter Detail  : Command  ? Help  q Quit",
		  ],
		  [
		    " r Reserve  R Adopt  x Release  e Extend  w Wait  Enter Detail  / Filter  : Command  ? Help  q Quit",
		    " r Reserve  R These  x Release  e Extend  w Wait  Enter Detail  / Filter  : Command  ? Help  q Quit",
		  ],
		  [
		    " r Reserve  R Adopt  x Release  e Extend  w Wait  Space Tag  Enter Detail  K Kill  / Filter  : Command  ? Help  q Quit",
		    " r Reserve  R These  x Release  e Extend  w Wait  Space Tag  Enter Detail  K Kill  / Filter  : Command  ? Help  q Quit",
		  ],
		]
	`);
});

test('the footer of the table of all hosts keeps some room free at its end', async () => {
	const footers = await Promise.all(
		[60, 80, 100, 120].map(async (columns) => {
			const state = await stateOf(await createBox(2), {columns, rows: 32}, {otherHosts: ['gpu-box-1']}, [
				'focus-hosts',
			]);
			return textOf(state, <Footer />);
		}),
	);
	expect(footers).toMatchInlineSnapshot(`
		[
		  " r Reserve  x Release  e Extend  Enter Open  ? Help  q Quit",
		  " r Reserve  x Release  e Extend  Enter Open  Esc Back  : Command  ? Help  q Quit",
		  " r Reserve  R This  x Release  e Extend  Enter Open  / Filter  Esc Back  : Command  ? Help  q Quit",
		  " r Reserve  R This  x Release  e Extend  Enter Open  / Filter  m Mine  < > Sort  Esc Back  : Command  ? Help  q Quit",
		]
	`);
});

test('footerHints returns the same list until a hint changes, so that the footer does not render each second', async () => {
	const state = await stateOf(await createSquatted(), {columns: 120, rows: 24});
	const hints = footerHints(state);
	expect(footerHints(after(state, {kind: 'ticked', nowMs: 5000}))).toBe(hints);
	expect(footerHints(after(state, 'line-down'))).not.toBe(hints);
});
