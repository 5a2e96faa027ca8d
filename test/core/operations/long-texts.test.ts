import {beforeEach, expect, test} from 'vitest';
import {adopt} from '../../../source/core/operations/adopt.js';
import {drain} from '../../../source/core/operations/pool/drain.js';
import {longestNote, longestReason} from '../../../source/core/rules/request/request.js';
import {reserve} from '../../../source/core/operations/reservations.js';
import {acquire} from '../../../source/core/operations/waiting/acquire.js';
import {reserveNow} from '../../../source/tui/commands/reserve/reserve.js';
import {outcomeOf} from '../../../source/tui/commands/dispatch.js';
import {createTestWorld, idleReading, observationOf, person, type TestWorld} from '../../_helpers/world.js';

const alice = person('alice');

let world: TestWorld;

beforeEach(async () => {
	world = await createTestWorld();
	world.see(() =>
		observationOf(
			[0, 1, 2, 3].map((index) => ({
				...idleReading(index),
				processes: [{pid: 700, startTicks: 7, user: 'alice', memoryUsedMiB: 9000}],
			})),
		),
	);
});

const stored = () => structuredClone(world.memory.state);

const never = new AbortController().signal;

/** Every operation that stores a text in the pool, with the maximum length of the text. */
const entrances: Readonly<Record<string, readonly [most: number, call: (text: string) => Promise<unknown>]>> = {
	reserve: [
		longestNote,
		async (note) => reserve(world, {requester: alice, count: 1, durationSeconds: 60, note, force: true}),
	],
	'run at once': [
		longestNote,
		async (note) =>
			acquire(
				world,
				{requester: alice, count: 1, tenure: {type: 'run'}, note, force: true},
				{waitSeconds: 0, signal: never, onProgress: () => undefined},
			),
	],
	'waiting in the queue': [
		longestNote,
		async (note) =>
			acquire(
				world,
				{requester: alice, count: 1, tenure: {type: 'manual', durationSeconds: 60}, note, force: true},
				{waitSeconds: 5, signal: never, onProgress: () => undefined},
			),
	],
	'adopting a process': [longestNote, async (note) => adopt(world, {requester: alice, pid: 700, note})],
	'taking out of service': [longestReason, async (reason) => drain(world, alice, [0], reason)],
};

test.each(Object.entries(entrances))('%s rejects a text that is one character too long', async (_, [most, call]) => {
	const before = stored();
	await expect(call('x'.repeat(most + 1))).rejects.toMatchObject({
		code: 'usage',
		exitCode: 2,
		message: expect.stringMatching(new RegExp(`has ${most + 1} characters, but the limit is ${most}$`, 'v')) as unknown,
	});
	expect(stored()).toEqual(before);
});

test.each(Object.entries(entrances))(
	'%s accepts a text of the maximum length, where an emoji counts as one character',
	async (_, [most, call]) => {
		const text = '😀'.repeat(most);
		await call(text);
		expect(JSON.stringify([...world.memory.state.gpus.values(), world.memory.state.drains])).toContain(text);
	},
);

test("the monitor's reserve dialog shows the error for a note that is too long", async () => {
	const before = stored();
	expect(
		await outcomeOf(async () =>
			reserveNow(world, alice, {count: 1, durationSeconds: 60, note: 'x'.repeat(120_000), force: true}),
		),
	).toEqual({
		kind: 'refused',
		complaint: {message: 'The note has 120000 characters, but the limit is 500', hint: 'Shorten it.'},
	});
	expect(stored()).toEqual(before);
});
