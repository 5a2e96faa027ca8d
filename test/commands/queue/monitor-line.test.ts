/** Commands typed into the command line of the monitor. */
import {userInfo} from 'node:os';
import {beforeEach, expect, onTestFinished, test} from 'vitest';
import {createApp} from '../../../source/app/app.js';
import {createHostOutputs} from '../../../source/commands/top/hosts.js';
import {createCommandLine} from '../../../source/commands/top/command-line.js';
import {CanhazgpuError} from '../../../source/errors.js';
import type {LiveOutputPage} from '../../../source/tui/ports.js';
import {understand} from '../../../source/main.js';
import {readCurrent} from '../../../source/core/operations/transact.js';
import {submitTestJobs} from '../../_helpers/jobs.js';
import {eventually} from '../../_helpers/eventually.js';
import {createLiveWorld, type LiveWorld} from '../../_helpers/live-world.js';

let world: LiveWorld;
let third: PromiseWithResolvers<void>;

beforeEach(async () => {
	third = Promise.withResolvers();
	world = await createLiveWorld(4);
});

async function open({isReadonly = false} = {}) {
	const understood = await understand(['top']);
	if ('text' in understood) {
		throw new Error('top has no text');
	}

	const {input} = understood;
	const close = async (): Promise<void> => {
		throw new Error('the pool is the monitor’s to close');
	};

	const app = {...createApp({config: input.config}), host: world.host, remoteStatus};
	const inside = {
		...world,
		close,
		watchGpus: async () => world.gpus,
		findDeviceHolders: async () => ({devices: [], holders: [], unreadable: {count: 0, users: []}}),
		prepareIsolation: async () => fail(new Error('the monitor starts no jobs')),
		prepareNumaBinding: async () => fail(new Error('the monitor starts no jobs')),
	};
	const hosts = createHostOutputs({
		app,
		world: inside,
		clock: world.clock,
		others: ['gpu-box-2', 'gpu-box-3'],
		broken: fail,
	});
	onTestFinished(hosts.stop);
	return createCommandLine({app, world: inside, grammar: input.grammar, isReadonly, hosts, logOf: fail});
}

const fail = (error: unknown): never => {
	throw error;
};

/** Makes one host answer, and lets the other fail on demand. */
async function remoteStatus(name: string) {
	if (name === 'gpu-box-3') {
		await third.promise;
		throw new CanhazgpuError('failed', 'gpu-box-3: No route\u{1B}[31m to host');
	}

	return [{gpu_id: 0, status: 'IN_USE', user: 'carol', gpu_model: 'H100'}];
}

const still = {signal: new AbortController().signal, onWaiting: () => undefined};

const owners = async (): Promise<ReadonlyArray<string | undefined>> => {
	const {gpus} = await readCurrent(world);
	return gpus.map((record) => (record.kind === 'leased' ? record.lease.note : undefined));
};

test('the command line of the monitor prints the same output as a shell', async () => {
	const line = await open();
	expect(await line.run('reserve -g 2 -d 4h --note "big run"', still)).toEqual([
		'Reserved 2 GPU(s): [0 1] for 4h 0m 0s',
		'',
		'To use them here:',
		'export CUDA_VISIBLE_DEVICES=0,1',
	]);
	expect(await owners()).toEqual(['big run', 'big run', undefined, undefined]);
	// A line pasted from a script.
	expect(await line.run('canhazgpu release --gpu-ids 1', still)).toEqual(['Released 1 GPU(s): [1]']);
	expect(await owners()).toEqual(['big run', undefined, undefined, undefined]);
	expect((await line.run('status', still))[0]).toMatch(/GPU +│ STATUS/v);
	expect((await line.run('help extend', still)).join('\n')).toContain('Usage: canhazgpu extend');
	expect((await line.run('extend --help', still)).join('\n')).toContain('Usage: canhazgpu extend');
});

test('admin in the monitor changes the policy and drains GPUs, except in a read-only monitor', async () => {
	const line = await open();
	expect(await line.run('admin --set strategy=lru', still)).toEqual(['Set strategy=lru, which was mru by default']);
	expect(await line.run('admin --drain 3 --reason fan', still)).toEqual(['Took 1 GPU(s) out of service: [3]: fan']);
	expect((await line.complete('admin --set st', {snapshot: undefined, audit: []})).candidates).toContain(
		'strategy=lru',
	);
	const readonly = await open({isReadonly: true});
	expect((await readonly.run('admin --policy', still)).join('\n')).toMatch(/strategy +│ lru /v);
	for (const typed of ['admin --unset strategy', 'admin --undrain 3']) {
		await expect(readonly.run(typed, still)).rejects.toThrow('This monitor is read-only');
	}
});

test('release in the monitor reports the released leases, so that the monitor can undo the release', async () => {
	const line = await open();
	await line.run('reserve -g 2 --note mine', still);
	const pages: unknown[] = [];
	const onReleased = (released: ReadonlyArray<{index: number; lease: {note?: string}}>): void => {
		pages.push(released.map(({index, lease}) => [index, lease.note]));
	};

	await line.run('release -G 0', {...still, onReleased});
	await line.run('release', {...still, onReleased});
	expect(pages).toEqual([[[0, 'mine']], [[1, 'mine']]]);
});

test.each([
	['reserv -g 2', 'Unknown command "reserv"', 'Did you mean: canhazgpu reserve'],
	['reserve --gpu 2', 'reserve has no flag --gpu', 'Did you mean --gpus?'],
	[
		'reserve -g 2 -d 4',
		'--duration must be a duration such as 30m, 2h or 1h30m, not "4"',
		'Did you mean 4m (minutes) or 4h (hours)?',
	],
	['reserve -G 9', 'GPU 9 is out of range', 'The pool has 4 GPU(s): ids are 0 to 3.'],
	["reserve --note 'half", "A quote is not closed, or nothing follows a backslash: 'half", undefined],
	['run -- python train.py', 'run cannot be used inside the monitor', 'Type it in a shell: canhazgpu run'],
	['keep', 'keep cannot be used inside the monitor', 'To keep your own GPUs: extend --keep 2h, or the key E'],
	['top', 'top cannot be used inside the monitor', 'Type it in a shell: canhazgpu top'],
	[
		'admin --force',
		'admin cannot create a pool inside the monitor',
		'Type it in a shell. Inside the monitor, admin takes only --policy, --set, --unset, --drain, --undrain.',
	],
	[
		'reserve --on far',
		'--on cannot be used inside the monitor',
		'Type it in a shell, or press H for the GPUs of all hosts.',
	],
	[
		'queue --on any',
		'--on cannot be used inside the monitor',
		'Type it in a shell, or press H for the GPUs of all hosts.',
	],
	[
		'status --json --follow',
		'status --follow cannot be used inside the monitor',
		'The monitor already shows changes. Leave out --follow.',
	],
	['status --redis-port 1', '--redis-port cannot be changed inside the monitor', 'Leave it out.'],
])('%s is refused in the monitor: %s', async (typed, message, hint) => {
	const line = await open();
	await expect(line.run(typed, still)).rejects.toMatchObject({message, hint});
	expect(await owners()).toEqual([undefined, undefined, undefined, undefined]);
});

test.each([
	['host', 'canhazgpu status --all --summary'],
	['host gpu-box-2', 'canhazgpu status --remote=gpu-box-2'],
	['hosts', 'canhazgpu status --all --summary'],
	['host box', 'canhazgpu status'],
	['canhazgpu queue', 'canhazgpu queue'],
	['reserve --note "big run"', "canhazgpu reserve --note 'big run'"],
])('inShell translates "%s" to "%s"', async (typed, shell) => {
	const line = await open();
	expect(line.inShell(typed)).toBe(shell);
});

test.each([
	['host gpu-box-2 3', 'host takes one host name', 'To see all hosts, type host without a name.'],
	['host -oProxyCommand=x', '"-oProxyCommand=x" is not a host name', 'To see all hosts, type host without a name.'],
	[
		'host gpu-box-4',
		'There is no host gpu-box-4 in the setting remote_hosts',
		'To see all hosts, type host without a name. To ask this host: status --remote gpu-box-4',
	],
])('%s is refused before any host is contacted: %s', async (typed, message, hint) => {
	const line = await open();
	expect(() => line.liveOutputOf!(typed)).toThrow(expect.objectContaining({message, hint}));
});

/** Returns the current page of a line's output, and ends the line with the test. */
function openOutput(line: Awaited<ReturnType<typeof open>>, typed: string): () => LiveOutputPage {
	let page: LiveOutputPage = {lines: []};
	onTestFinished(
		line.liveOutputOf!(typed)!.begin((next) => {
			page = next;
		}),
	);
	return () => page;
}

test('`:host` in the monitor lists each host when it answers', async () => {
	const line = await open();
	expect(line.liveOutputOf!('status')).toBeUndefined();
	const list = openOutput(line, 'host');
	expect(list().lines.slice(2)).toEqual([
		expect.stringMatching(/^ box +│ - +│ - +│ - +│ asking…$/v),
		expect.stringMatching(/^ gpu-box-2 │ .* asking…$/v),
		expect.stringMatching(/^ gpu-box-3 │ .* asking…$/v),
	]);
	await eventually(() => list().lines.filter((text) => text.includes('asking')).length === 1);
	expect(list().lines).toMatchObject([
		expect.stringMatching(/^ HOST +│ AVAILABLE │ IN USE │ TOTAL │ GPU MODELS$/v),
		expect.any(String),
		expect.stringMatching(/^ box +│ ✓ 4 +│ 0 +│ 4 +│ /v),
		expect.stringMatching(/^ gpu-box-2 │ ✗ 0 +│ 1 +│ 1 +│ 1x H100$/v),
		expect.stringMatching(/^ gpu-box-3 │ .* asking…$/v),
	]);
	third.resolve();
	await eventually(() => list().lines[4]!.endsWith('│ ✗ No route to host'));
	expect(list().opens).toEqual(
		new Map([
			[2, 'host box'],
			[3, 'host gpu-box-2'],
			[4, 'host gpu-box-3'],
		]),
	);
	// A recent answer is shown at once.
	expect(openOutput(line, 'host gpu-box-2')().lines[2]).toMatch(/ 0 +│ ● IN_USE │ carol/v);
	// Each GPU has the color of its state.
	expect(openOutput(line, 'host gpu-box-2')().tones?.get(2)).toBe('others');
	expect(openOutput(line, 'canhazgpu host gpu-box-3')().lines).toEqual(['✗ gpu-box-3: No route to host']);
	expect(openOutput(line, 'host box')().lines).toHaveLength(6);
});

test('a read-only monitor runs queue but refuses reserve, release, extend and queue --leave', async () => {
	const line = await open({isReadonly: true});
	for (const typed of ['reserve', 'release', 'extend -d 1h', 'queue --leave 1']) {
		await expect(line.run(typed, still)).rejects.toThrow('read-only');
	}

	expect(await line.run('queue', still)).toEqual(['Nobody waits']);
});

test('reserve in the monitor shows its queue position while waiting and leaves the queue when cancelled', async () => {
	const line = await open();
	await line.run('reserve -g 4', still);
	const controller = new AbortController();
	const pages: string[] = [];
	const waiting = line.run('reserve -g 1', {
		signal: controller.signal,
		onWaiting(text) {
			pages.push(text);
		},
	});
	await eventually(() => pages.length > 0);
	expect(pages[0]).toContain('Waiting for 1 GPU: position 1 of 1');
	controller.abort();
	expect(await waiting).toContain('Left the queue');
	expect((await readCurrent(world)).queue).toEqual([]);
});

test('the command line of the monitor completes the ids of own jobs after cancel, retry and logs', async () => {
	const line = await open();
	const account = userInfo().username;
	const submit = async (owner: string, indices?: readonly number[]) =>
		submitTestJobs(world, {account: owner, ...(indices && {array: {indices}})});
	await submit(account);
	await submit('somebody-else');
	await submit(account, [0, 5]);
	const complete = async (typed: string) =>
		(await line.complete(typed, {snapshot: await readCurrent(world), audit: []})).candidates;
	expect(await complete('cancel ')).toEqual(['1', '3', '3_0', '3_5']);
	expect(await complete('cancel 3')).toEqual(['3', '3_0', '3_5']);
	expect(await complete('cancel 1,3')).toEqual(['1,3', '1,3_0', '1,3_5']);
	expect(await complete('cancel 1 3')).toEqual(['3', '3_0', '3_5']);
	expect(await complete('retry 1')).toEqual(['1']);
	// An array has no output of its own.
	expect(await complete('logs 3')).toEqual(['3_0', '3_5']);
	expect(await complete('cancel 2')).toEqual([]);
});

test.each([
	['', 0, ['status', 'reserve', 'extend', 'release', 'queue', 'report', 'events', 'help']],
	['re', 0, ['reserve', 'release', 'report']],
	['help ex', 5, ['extend']],
	['release --', 8, ['--gpu-ids', '--user']],
	['extend --gpu-ids 1 --d', 19, ['--duration']],
	['reserve -G ', 11, ['0', '1', '2', '3']],
	['reserve --gpu-ids 1,', 18, ['1,0', '1,2', '1,3']],
	['release -G ', 11, ['1', '3']],
	['release --gpu-ids=3,', 8, ['--gpu-ids=3,1']],
	['reserve -d 1', 11, ['1h', '12h', '1d']],
	['reserve --note ', 15, []],
	['ho', 0, ['host']],
	['host ', 5, ['box', 'gpu-box-2', 'gpu-box-3']],
	['host gpu-', 5, ['gpu-box-2', 'gpu-box-3']],
	['host gpu-box-2 ', 15, []],
	['theme high', 6, ['high-contrast', 'high-contrast-light']],
	['interval ', 9, ['0.5s', '2s', '1m']],
	['run -', 4, []],
])('the command line of the monitor completes %j from column %d with %j', async (typed, start, candidates) => {
	const line = await open();
	await line.run('reserve -G 1,3', still);
	const completion = await line.complete(typed, {snapshot: await readCurrent(world), audit: []});
	expect(completion.start).toBe(start);
	// More candidates are allowed, so that new commands and flags need no change here.
	expect(completion.candidates).toEqual(expect.arrayContaining([...candidates]));
	expect(completion.candidates.every((candidate) => candidate.startsWith(typed.slice(start)))).toBe(true);
	expect(candidates.length > 0 || completion.candidates.length === 0).toBe(true);
});
