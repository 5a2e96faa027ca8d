import path from 'node:path';
import fc from 'fast-check';
import {afterEach, expect, onTestFinished, test, vi} from 'vitest';
import {GpuTable} from '../../source/tui/panels/gpus/gpus-panel.js';
import {Screen} from '../../source/tui/screens/screen.js';
import type {State} from '../../source/tui/state/state.js';
import {createStateStore} from '../../source/tui/state/store.js';
import {mounted} from './_drawn.js';
import {after, endSession, frameOf, linesOf, startMonitor, stateOf, textOf, type Session} from './_harness.js';
import {nightOf, pastOf} from './_scene.js';
import {settle} from './_settle.js';
import {createBox, createScene, sceneTime} from './_world.js';

let session: Session | undefined;

afterEach(async () => {
	vi.restoreAllMocks();
	await endSession(session);
	session = undefined;
});

/**
Returns the files of the components that are drawn again after a change. Only these components call the replaced `getState`. The others keep the
function that they got when they were drawn.
*/
async function drawnAfter(change: () => void, {store}: Session): Promise<ReadonlySet<string>> {
	const files = new Set<string>();
	const {getState} = store;
	vi.spyOn(store, 'getState').mockImplementation(() => {
		for (const [file] of (new Error('read').stack ?? '').matchAll(/(?<=\/source\/tui\/)[^:?]+\.tsx/gv)) {
			files.add(path.basename(file));
		}

		return getState();
	});
	change();
	await settle();
	vi.restoreAllMocks();
	return files;
}

test('when only the time changes, the parts that show no time are not drawn again', async () => {
	const box = await createBox(8);
	session = startMonitor(box, {size: {columns: 120, rows: 32}, scanIntervalMs: 3_600_000});
	await session.shows('Free 8');
	const {store} = session;
	const timeless = [
		'footer.tsx',
		'screen.tsx',
		'message.tsx',
		'events.tsx',
		'process-cell.tsx',
		'summary.tsx',
		'gpus-panel.tsx',
		'cells.tsx',
		'queue-panel.tsx',
		'detail-panel.tsx',
	];

	const afterTick = await drawnAfter(() => {
		store.dispatch({kind: 'ticked', nowMs: store.getState().nowMs + 1000});
	}, session);

	expect(afterTick).toContain('header-parts.tsx');
	expect(timeless.filter((file) => afterTick.has(file))).toEqual([]);
	const afterResize = await drawnAfter(() => {
		store.dispatch({kind: 'resized', size: {columns: 200, rows: 50}});
	}, session);
	expect(timeless.filter((file) => !afterResize.has(file))).toEqual([]);
});

test.each([
	['the last minutes', []],
	['the last hour', ['look-back'] as const],
	['a day', ['look-back', 'look-back', 'look-back'] as const],
])('a screen with graphs of %s, on which time has passed, looks like a new screen', async (_, steps) => {
	const box = await createScene();
	const store = createStateStore(
		await stateOf(box, {columns: 200, rows: 50}, {}, [...steps, nightOf(box)], pastOf(box)),
	);
	const {lastFrame, unmount} = mounted(<Screen />, store);
	onTestFinished(unmount);
	for (const ms of [300, 1000, 2500, 9000, 31_000, 61_000, 400_000, 3_600_000]) {
		const {nowMs} = store.getState();
		store.dispatch({kind: 'ticked', nowMs: nowMs + ms});
		await settle();
		const state = store.getState();
		// Makes the tables forget their rows.
		frameOf({...state, snapshot: undefined});
		expect(linesOf(lastFrame()!)).toBe(frameOf(state));
	}
});

test('a row that is not drawn again looks like a new row', async () => {
	const scene = await stateOf(await createScene(), {columns: 240, rows: 60});
	const idle = [{lease: 'lease-bob', index: 3, seconds: 1018, until: sceneTime}];
	const start = {...scene, observation: {...scene.observation!, idle}};
	const tableOf = (state: State): string => textOf(state, <GpuTable width={238} height={9} />);
	expect(tableOf(start)).toContain('Idle 16m');
	fc.assert(
		fc.property(
			fc.boolean(),
			fc.array(fc.oneof(fc.nat(5000), fc.nat(600_000), fc.nat(1e9)), {minLength: 1, maxLength: 5}),
			(isFolded, pauses) => {
				let state = isFolded ? after(start, {kind: 'toggle-fold'}) : start;
				tableOf(state);
				for (const ms of pauses) {
					state = after(state, {kind: 'ticked', nowMs: state.nowMs + ms});
					const table = tableOf(state);
					// Makes the table forget its rows.
					tableOf({...state, snapshot: undefined});
					expect(table).toBe(tableOf(state));
				}
			},
		),
		{numRuns: 40},
	);
});
