import {expect, test} from 'vitest';
import {Summary} from '../../../source/tui/panels/summary.js';
import {TotalsLine} from '../../../source/tui/panels/shared/totals-line.js';
import {splitReading} from '../../_helpers/mig-box.js';
import {stateOf, textOf} from '../_harness.js';
import {busy, createBox, gpuReading, lease, sceneTime, waiter} from '../_world.js';

/** A box with GPUs in every state. The last four GPUs are split by MIG, drained, used without a reservation, and broken. */
async function boxOf(gpuCount: number, others: number, waiting: number) {
	const [split, drained, unreserved, broken] = [gpuCount - 4, gpuCount - 3, gpuCount - 2, gpuCount - 1] as const;
	const readings = Array.from({length: gpuCount}, (_, index) => gpuReading(index, {utilizationPercent: 46}));
	readings[split] = splitReading(split, ['1g.10gb']);
	readings[unreserved] = busy(unreserved, 'dave', 'python3', {gibibytes: 19, percent: 41});
	readings[broken] = gpuReading(broken, {failure: 'GPU is lost'});
	const held = Array.from({length: others + 3}, (_, index) => [index, lease(index < 3 ? 'alice' : 'bob')] as const);
	const box = await createBox(gpuCount, {
		readings,
		leases: Object.fromEntries(held),
		waiting: Array.from({length: waiting}, (_, index) => waiter(`user-${index}`)),
	});
	await box.write({kind: 'drains', drains: new Map([[drained, {by: 'root', since: sceneTime}]])});
	return box;
}

test.each([
	[12, 4, 2, [/Free 1 \+1 MIG/v, /Mine 3/v, /Oth\S* 4/v, /Drain\S* 1/v, /Unr\S* 1/v, /Err\S* 1/v, /Queue 2/v]],
	[64, 28, 12, [/Free 29 \+1 MIG/v, /Mine 3/v, /Oth\S* 28/v, /Drain\S* 1/v, /Unr\S* 1/v, /Err\S* 1/v, /Queue 12/v]],
])('the summary of %i GPUs shows every count at every width from 60 to 200', async (gpus, others, waiting, counts) => {
	const state = await stateOf(await boxOf(gpus, others, waiting), {columns: 60, rows: 24});
	for (let columns = 60; columns <= 200; columns++) {
		const line = textOf({...state, size: {...state.size, columns}}, <Summary />);
		expect(counts.filter((count) => !count.test(line)).map(String), `${columns}: ${line}`).toEqual([]);
		// A total that is shown is not cut off either.
		expect(line).toMatch(/^ Free .*Queue \d+$/v);
		expect(line.match(/Util|Mem|Power/gv) ?? []).toHaveLength((line.match(/\d(?:%|G|kW)/gv) ?? []).length);
	}
});

test('the summary shows counts of two digits in every state in 60 columns', async () => {
	const state = await stateOf(await boxOf(12, 4, 10), {columns: 60, rows: 24});
	const counts = {mine: 10, others: 10, drained: 10, unreserved: 10, errors: 10};
	const line = textOf(
		state,
		<TotalsLine
			columns={60}
			isRoomy={false}
			isScanned
			free={{whole: 10, split: 10}}
			counts={counts}
			always={[]}
			loads={[{least: 0, loads: []}]}
			waiting={10}
		/>,
	);
	expect(line.trim()).toBe('Free 10 +10 MIG Mine 10 Oth 10 Drain 10 Unr 10 Err 10 Q 10');
});

test.each([
	[60, 'Free 1 +1 MIG Mine 3 Oth 4 Drain 1 Unr 1 Err 1 Queue 2'],
	[70, 'Free 1 +1 MIG  Mine 3  Others 4  Drained 1  Unres 1  Err 1 Queue 2'],
	[75, 'Free 1 +1 MIG  Mine 3  Others 4  Drained 1  Unreserved 1  Error 1 Queue 2'],
	[85, 'Free 1 +1 MIG  Mine 3  Others 4  Drained 1  Unreserved 1  Error 1 Util 41%  Queue 2'],
])('the summary in %i columns has no bars or other loads than fit beside the counts', async (columns, expected) => {
	const state = await stateOf(await boxOf(12, 4, 2), {columns, rows: 24});
	expect(
		textOf(state, <Summary />)
			.trim()
			.replaceAll(/ {3,}/gv, ' '),
	).toBe(expected);
});
