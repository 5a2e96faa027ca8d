/** A GPU that several share, in the monitor: one row in the table, one line a share below, and verbs for the own share alone. */
import {expect, test} from 'vitest';
import {emptyPlan} from '../../../source/core/model/plan.js';
import {reasonAgainstTargets, targetsOf} from '../../../source/tui/verbs/shared/targets.js';
import {frameOf, stateOf} from '../_harness.js';
import {busy, createBox, lease, run} from '../_world.js';

async function sharedBox(...users: readonly string[]) {
	const box = await createBox(2, {
		leases: {},
		readings: [busy(0, 'bob', 'python eval.py', {gibibytes: 16, percent: 40})],
	});
	await box.store.commit({
		...emptyPlan,
		writes: [
			{
				kind: 'shares',
				index: 0,
				capacityMiB: 81_559,
				shares: users.map((user, position) =>
					position === 0 ? lease(user, {memoryMiB: 8192, note: 'eval'}) : run(user, {memoryMiB: 8192}),
				),
			},
		],
	});
	return box;
}

test('the row counts the shares, and below it each has a line', async () => {
	const state = await stateOf(await sharedBox('alice', 'bob'), {columns: 160, rows: 30});
	const frame = frameOf(state);
	expect(frame).toMatch(/ 0 +mine? +2 shared/iv);
	expect(frame).toContain('16/79.6G bob 16/8G!, alice');
	expect(frame).toMatch(/alice 8G +MANUAL +ends in 4h/v);
	expect(frame).toMatch(/bob 16\/8G! +RUN +ends when 81234 exits/v);
});

test('release and extend mean the own share; of others’ shares the monitor says whose they are', async () => {
	const own = await stateOf(await sharedBox('bob', 'alice'), {columns: 160, rows: 30});
	expect(targetsOf(own, 'release').targets.map(({lease: {user}}) => user)).toEqual(['alice']);
	const others = await stateOf(await sharedBox('bob', 'carol'), {columns: 160, rows: 30});
	expect(targetsOf(others, 'release').targets).toEqual([]);
	expect(reasonAgainstTargets(others, 'release')).toBe('GPU 0 is held by bob: only the holder can release it');
	expect(frameOf(others)).not.toContain('MINE');
});
