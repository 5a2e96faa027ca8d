/** How `--on any` chooses a host, and moves a waiting request. */
import {setTimeout as sleep} from 'node:timers/promises';
import {expect, test} from 'vitest';
import type {App} from '../../../source/app/contract.js';
import type {Input} from '../../../source/command-line/command.js';
import {run} from '../../../source/commands/run.js';
import {acquireElsewhere} from '../../../source/commands/shared/hosts/acquire-elsewhere.js';
import {findBetterHost} from '../../../source/commands/shared/hosts/watch-hosts.js';
import {CanhazgpuError} from '../../../source/errors.js';
import {createTestWorld} from '../../_helpers/world.js';

test('findBetterHost returns when its request is aborted, even if a host hangs', async () => {
	const asked = Promise.withResolvers<void>();
	const app = {
		clock: {
			async sleep(_milliseconds: number, signal?: AbortSignal) {
				signal?.throwIfAborted();
			},
		},
		host: {hostname: 'laptop'},
		async open() {
			throw new CanhazgpuError('no-pool', 'There is no GPU pool on this machine yet');
		},
		remoteQueue: async () => ({entries: [{id: 'mine', allocated_gpus: []}]}),
		remoteStatus: async (_host: string, signal?: AbortSignal) =>
			new Promise((_resolve, reject) => {
				signal?.addEventListener('abort', () => {
					reject(new CanhazgpuError('failed', 'not wanted any more'));
				});
				asked.resolve();
			}),
	} as unknown as App;
	const waiting = new AbortController();
	const moving = findBetterHost(app, {
		wanted: {count: 1, ids: undefined, need: undefined},
		host: 'near',
		entryId: 'mine',
		others: ['near', 'hanging'],
		signal: waiting.signal,
	});
	await asked.promise;
	waiting.abort();
	expect(await Promise.race([moving, sleep(5000, 'still waiting')])).toBeUndefined();
});

const wanted = {count: 1, ids: undefined, need: undefined};

/** Arguments of `--on any` with two other hosts. */
const anywhere = {
	has: (name: string) => name === 'on',
	text: (name: string) => (name === 'on' ? 'any' : undefined),
	texts: () => [],
	words: [],
	rest: ['true'],
	config: {get: () => ['near', 'far']},
} as unknown as Input;

/** A host with a free GPU whose clock advances by four seconds while no other host answers. */
async function slowlyAsking(change: Partial<App>): Promise<{-readonly [Key in keyof App]: App[Key]}> {
	const world = await createTestWorld();
	let nowMs = 0;
	return {
		host: {hostname: 'here'},
		clock: {monotonicMs: () => nowMs, uuid: () => 'mine', sleep: world.clock.sleep},
		open: async () => ({...world, close: async () => undefined}),
		async remoteStatus(host: string) {
			nowMs += host === 'near' ? 4000 : 0;
			throw new CanhazgpuError('failed', 'No route to host');
		},
		requester: () => ({account: 'alice', uid: 1000, label: 'alice'}),
		remark: () => undefined,
		...change,
	} as unknown as App;
}

test.each([
	[undefined, undefined],
	[0, 0],
	[6, 2],
	[3, 1],
])('with --wait %j, %j s are left for this host after 4 s of queries to other hosts', async (waitSeconds, left) => {
	const app = await slowlyAsking({});
	expect(await acquireElsewhere(app, anywhere, {command: run, wanted, waitSeconds})).toEqual({
		isHere: true,
		waitSeconds: left,
	});
});

/** The answers of `near` to a host without a pool: its one GPU becomes free in ten minutes. */
const onlyNear = {
	async open() {
		throw new CanhazgpuError('no-pool', 'There is no GPU pool on this machine yet');
	},
	remoteStatus: async () => [{gpu_id: 0, status: 'IN_USE', remaining_seconds: 600}],
	remoteQueue: async () => ({entries: []}),
} as unknown as Partial<App>;

test('acquireElsewhere reports a bug in a later query of the hosts, and the waiting command continues', async () => {
	const asked = Promise.withResolvers<void>();
	const remarks: string[] = [];
	const app = await slowlyAsking({
		...onlyNear,
		clock: {monotonicMs: () => 0, uuid: () => 'mine', sleep: async () => undefined} as unknown as App['clock'],
		async runOnHost() {
			app.remoteQueue = async () => {
				asked.resolve();
				throw new TypeError('no such property');
			};

			await asked.promise;
			// Lets a possible unhandled rejection surface.
			await sleep(0);
			return {exitCode: 7, hasAnswered: true, problem: undefined};
		},
		remark(words) {
			remarks.push(words);
		},
	});
	expect(await acquireElsewhere(app, anywhere, {command: run, wanted, waitSeconds: undefined})).toEqual({
		isHere: false,
		exitCode: 7,
	});
	expect(remarks.at(-1)).toContain('this is a bug in canhazgpu. It does not affect running jobs or waiting requests:');
});

test('acquireElsewhere stops querying hosts if ssh cannot be started', async () => {
	const asking = Promise.withResolvers<AbortSignal>();
	const app = await slowlyAsking({
		...onlyNear,
		clock: {
			monotonicMs: () => 0,
			uuid: () => 'mine',
			async sleep(_milliseconds: number, signal: AbortSignal) {
				asking.resolve(signal);
				await new Promise((_resolve, reject) => {
					signal.addEventListener('abort', reject);
				});
			},
		} as unknown as App['clock'],
		async runOnHost() {
			await asking.promise;
			throw new CanhazgpuError('failed', 'ssh cannot be started');
		},
	});
	const ended = acquireElsewhere(app, anywhere, {command: run, wanted, waitSeconds: undefined});
	await expect(ended).rejects.toThrow('ssh cannot be started');
	expect((await asking.promise).aborted).toBe(true);
});
