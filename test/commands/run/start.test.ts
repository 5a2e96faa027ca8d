/** Events between the grant and the start of the command: nothing stays reserved, and the user sees why. */
import process from 'node:process';
import {expect, test} from 'vitest';
import type {App, Job, JobOptions, OpenWorld} from '../../../source/app/contract.js';
import type {Input} from '../../../source/command-line/command.js';
import {run} from '../../../source/commands/run.js';
import type {Config} from '../../../source/config/config.js';
import {readStatus} from '../../../source/core/operations/reservations.js';
import {CanhazgpuError} from '../../../source/errors.js';
import {createLiveWorld} from '../../_helpers/live-world.js';

const input: Input = {
	has: () => false,
	text: () => undefined,
	texts: () => [],
	words: [],
	rest: ['train'],
	config: {get: () => undefined, isGiven: () => false} as unknown as Config,
	grammar: {
		commands: [],
		find() {
			throw new Error('not asked');
		},
		understand() {
			throw new Error('not asked');
		},
	},
};

/** Runs `run -- train` on a box of one GPU. Calls `onMessage` for each request to the store after the grant. */
async function createRun(start: (options: JobOptions) => Promise<Job>, onMessage: (interrupt: () => void) => void) {
	const world = await createLiveWorld(1);
	const controller = new AbortController();
	let isGranted = false;
	const remarks: string[] = [];
	const report = (): void => {
		if (isGranted) {
			onMessage(() => {
				controller.abort();
			});
		}
	};

	const open: OpenWorld = {
		...world,
		store: {
			...world.store,
			async read(options) {
				report();
				return world.store.read(options);
			},
			async commit(plan) {
				report();
				const outcome = await world.store.commit(plan);
				isGranted ||= plan.grants;
				return outcome;
			},
		},
		watchGpus: async () => world.gpus,
		findDeviceHolders: async () => ({devices: [], holders: [], unreadable: {count: 0, users: []}}),
		prepareIsolation: async () => async () => ({kind: 'not-isolated', problem: {kind: 'simulated'}}),
		prepareNumaBinding: async () => async () => ({kind: 'not-bound', problem: {kind: 'no-program'}}),
		close: async () => undefined,
	};
	const app: Partial<App> = {
		host: world.host,
		clock: world.clock,
		environment: process.env,
		notify: async () => [],
		remark(text) {
			remarks.push(text);
		},
		progress(text) {
			remarks.push(text);
		},
		requester: () => ({account: 'alice', uid: 1000, label: 'alice'}),
		open: async () => open,
		loadAhead: async () => undefined,
		foreignEngine: async () => undefined,
		outliveBugs: () => undefined,
		interruption: () => ({signal: controller.signal, exitCode: () => 143, end: () => undefined}),
		prepareJob: async () => start,
	};
	return {exitCode: run.run(app as App, input), owner: async () => (await readStatus(world)).rows[0]!.owner, remarks};
}

test('a signal between the grant and the start makes run release the GPU without starting the command', async () => {
	let starts = 0;
	const {exitCode, owner} = await createRun(
		async () => {
			starts++;
			throw new Error('started');
		},
		(interrupt) => {
			interrupt();
		},
	);
	expect(await exitCode).toBe(143);
	expect(starts).toBe(0);
	expect(await owner()).toBeUndefined();
});

test('run starts the command right after its last check for a signal, in the same turn of the event loop', async () => {
	let hasTurned = false;
	const {exitCode, owner} = await createRun(
		async () => {
			throw new CanhazgpuError('failed', hasTurned ? 'started later' : 'started in the same turn');
		},
		() => {
			setImmediate(() => {
				hasTurned = true;
			});
		},
	);
	await expect(exitCode).rejects.toThrow('started in the same turn');
	expect(await owner()).toBeUndefined();
});

test('run reports why the command cannot be started even if the store is unreachable', async () => {
	let isAway = false;
	const {exitCode} = await createRun(
		async () => {
			isAway = true;
			throw new CanhazgpuError('command-not-executable', '"train" cannot be started');
		},
		() => {
			if (isAway) {
				throw new CanhazgpuError('store-unreachable', 'Cannot reach the store');
			}
		},
	);
	await expect(exitCode).rejects.toMatchObject({code: 'command-not-executable', exitCode: 126});
});

/** The error of an unreachable store. */
const away = () => new CanhazgpuError('store-unreachable', 'Cannot reach the store');

test('if the store is unreachable after the grant, run prints one message, waits, and then starts the command', async () => {
	let messages = 0;
	const {exitCode, remarks} = await createRun(
		async () => ({
			process: {pid: 2},
			ended: Promise.resolve({exitCode: 5, reason: 'exited' as const, left: []}),
			letGo: () => undefined,
		}),
		() => {
			messages++;
			if (messages <= 3) {
				throw away();
			}
		},
	);
	expect(await exitCode).toBe(5);
	expect(remarks).toEqual([
		'canhazgpu: the GPUs are granted, but the command cannot start until the store answers: Cannot reach the store',
		'Reserved 1 GPU(s): [0] for command execution',
	]);
});

test('if a signal arrives while run waits for an unreachable store, run ends without starting the command', async () => {
	let starts = 0;
	const {exitCode} = await createRun(
		async () => {
			starts++;
			throw new Error('started');
		},
		(interrupt) => {
			setTimeout(interrupt, 50);
			throw away();
		},
	);
	expect(await exitCode).toBe(143);
	expect(starts).toBe(0);
});
