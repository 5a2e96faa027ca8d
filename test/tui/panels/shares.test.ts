/** Shared GPUs in the monitor: one table row per GPU, one detail line per share, commands for own shares only, and requests for shares. */
import {expect, test} from 'vitest';
import {emptyPlan, type Write} from '../../../source/core/model/plan.js';
import {reasonAgainstTargets, targetsOf} from '../../../source/tui/commands/reservations/targets.js';
import {changeForm} from '../../../source/tui/state/form.js';
import {release} from '../../../source/tui/commands/reservations/release.js';
import {reserve, reserveNow, reserveThese} from '../../../source/tui/commands/reserve/reserve.js';
import {reservationOf, type ReserveForm} from '../../../source/tui/commands/reserve/form.js';
import type {MonitorCommand} from '../../../source/tui/commands/command.js';
import {after, frameOf, pressing, stateOf} from '../_harness.js';
import {alice, busy, createBox, lease, run, sceneTime} from '../_world.js';

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
					position === 0
						? lease(user, {memoryMiB: 8192, note: 'eval', leaseId: `${user}-0`})
						: run(user, {memoryMiB: 8192, leaseId: `${user}-${position}`}),
				),
			},
		],
	});
	return box;
}

test('the row of a shared GPU counts the shares, and the detail panel has a line for each share', async () => {
	const state = await stateOf(await sharedBox('alice', 'bob'), {columns: 160, rows: 30});
	const frame = frameOf(state);
	expect(frame).toMatch(/ 0 +mine? +2 shared/iv);
	expect(frame).toContain('16/79.6G bob 16/8G!, alice');
	expect(frame).toMatch(/alice 8G +MANUAL +ends in 4h/v);
	expect(frame).toMatch(/bob 16\/8G! +RUN +ends when 81234 exits/v);
});

test("the keys x and e affect only the user's own share of a GPU", async () => {
	const own = await stateOf(await sharedBox('bob', 'alice'), {columns: 160, rows: 30});
	expect(targetsOf(own, 'release').targets.map(({lease: {user}}) => user)).toEqual(['alice']);
	const others = await stateOf(await sharedBox('bob', 'carol'), {columns: 160, rows: 30});
	expect(targetsOf(others, 'release').targets).toEqual([]);
	expect(reasonAgainstTargets(others, 'release')).toBe('GPU 0 is held by bob: only the holder can release it');
	expect(frameOf(others)).not.toContain('MINE');
});

test('the release command names the lease if the user has two shares of a GPU', async () => {
	const asked = async (...users: readonly string[]) =>
		frameOf(await stateOf(await sharedBox(...users), {columns: 160, rows: 30}, {}, [pressing(release)]));
	expect(await asked('alice', 'alice')).toMatch(/\$ canhazgpu release --gpu-ids 0 --lease \S+/v);
	expect(await asked('alice', 'bob')).toMatch(/\$ canhazgpu release --gpu-ids 0 +│/v);
});

/** Opens the dialog of a command, and types these texts into the labeled fields. */
async function asking(
	box: Awaited<ReturnType<typeof createBox>>,
	command: MonitorCommand,
	...typed: ReadonlyArray<readonly [label: string, text: string]>
) {
	let state = await stateOf(box, {columns: 80, rows: 24}, {}, [pressing(command)]);
	for (const [label, text] of typed) {
		const form = state.dialog as ReserveForm;
		const focused = form.fields.findIndex((field) => field.label === label);
		state = {...state, dialog: changeForm({...form, focused}, {kind: 'typed', text})};
	}

	return state;
}

const allow: Write = {kind: 'policy', policy: new Map([['share', {value: 'on', since: sceneTime}]])};

test('the reserve form has a Share field if the pool allows shares', async () => {
	const box = await createBox(2);
	await box.write(allow);
	const state = await asking(box, reserve, ['Share', '8G']);
	expect(frameOf(state)).toContain('Share     8G');
	expect(frameOf(state)).toContain('$ canhazgpu reserve --gpus 1 --share 8G --duration 8h');
	const answer = await reserveNow(box.world, alice, reservationOf(state.dialog as ReserveForm));
	expect(answer).toMatchObject({kind: 'done', flash: {text: 'reserved a share of 8G of GPU 0 for 8h 0m 0s'}});
	const {gpus} = await box.store.read();
	expect(gpus[0]).toMatchObject({kind: 'shared', shares: [{user: 'alice', memoryMiB: 8192}]});
});

test.each([
	['0', 'Share: "0" is not a memory size'],
	['8', 'Share: "8" has no unit'],
	['lots', 'Share: "lots" is not a memory size'],
])('the reserve form rejects the share "%s" and explains the format', async (text, words) => {
	const box = await createBox(2);
	await box.write(allow);
	const {dialog} = await asking(box, reserve, ['Share', text]);
	expect(() => reservationOf(dialog as ReserveForm)).toThrow(words);
});

test('the reserve form rejects a share of a MIG instance and a share that fits on no GPU', async () => {
	const box = await createBox(2);
	await box.write(allow);
	const both = await asking(box, reserve, ['Needs', '1g.10gb'], ['Share', '8G']);
	expect(() => reservationOf(both.dialog as ReserveForm)).toThrow('a MIG instance cannot be shared');
	const large = await asking(box, reserve, ['Share', '200G']);
	await expect(reserveNow(box.world, alice, reservationOf(large.dialog as ReserveForm))).rejects.toThrow(
		'No GPU with room for a share of 200G in this pool',
	);
});

test('the key R can request a share of a shared GPU, but not of a GPU that is leased as a whole', async () => {
	const box = await sharedBox('bob');
	await box.write({kind: 'lease', index: 1, lease: lease('bob')});
	const down = {kind: 'line-down'} as const;
	const whole = await stateOf(box, {columns: 80, rows: 24});
	expect(reserveThese.reasonAgainst(whole)).toBe('GPU 0 is already reserved, by bob');
	await box.write(allow);
	const state = await asking(box, {...reserve, ...reserveThese}, ['Share', '20G']);
	expect(reserveThese.reasonAgainst(state)).toBeUndefined();
	expect(frameOf(state)).toContain('$ canhazgpu reserve --gpu-ids 0 --share 20G --duration 8h');
	expect(reserveThese.reasonAgainst(after(state, {kind: 'close-dialog'}, down))).toBe(
		'GPU 1 is already reserved, by bob',
	);
});

test('the reserve form has no Share field if the pool does not allow shares', async () => {
	const {dialog} = await asking(await createBox(2), reserve);
	expect((dialog as ReserveForm).fields.map(({label}) => label)).toEqual([
		'GPUs',
		'Duration',
		'Note',
		'Needs',
		'Force',
	]);
});
