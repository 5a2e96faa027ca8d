import path from 'node:path';
import {afterEach, expect, test, vi} from 'vitest';
import {endSession, startMonitor, type Session} from './_harness.js';
import {settle} from './_settle.js';
import {createBox} from './_world.js';

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
	const timeless = ['footer.tsx', 'screen.tsx', 'message.tsx', 'events.tsx'];

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
