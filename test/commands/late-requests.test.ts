/**
Requests that reach a real Redis late, or take effect without an answer: every command acts once and says what it did.
*/
import {afterAll, beforeAll, expect, onTestFinished, test} from 'vitest';
import {everyNth, slowTest} from '../_helpers/slow.js';
import type {Snapshot} from '../../source/core/model/types.js';
import type {Box} from '../_helpers/program/cli.js';
import {eventually} from '../_helpers/eventually.js';
import {freshRedisBox, holders, openStoreOf, peek, start, type Started} from '../_helpers/program/processes.js';
import {startRedis, type RedisServer} from '../_helpers/store/redis-server.js';
import {openRequestProxy, type CommitFate, type RequestProxy} from '../_helpers/store/request-proxy.js';

let redis: RedisServer;

beforeAll(async () => {
	redis = await startRedis();
});

afterAll(async () => {
	await redis.stop();
});

type Scene = {
	readonly box: Box;
	readonly proxy: RequestProxy;
	/** Variables that make a command connect through the proxy. */
	readonly byProxy: Readonly<Record<string, string>>;
};

/** The waiting process of the last scene. */
let waiter: Started | undefined;

async function setScene(gpuCount = 3): Promise<Scene> {
	// The waiter of an earlier attempt would join the new pool, too.
	waiter?.kill('SIGKILL');
	await waiter?.ended;
	const box = await freshRedisBox(redis.port, gpuCount);
	const proxy = await openRequestProxy(redis.port);
	onTestFinished(async () => proxy.close());
	return {box, proxy, byProxy: {CANHAZGPU_REDIS_PORT: String(proxy.port)}};
}

/** Counts the events of each kind in the audit log. */
async function auditCounts({box}: Scene): Promise<Readonly<Record<string, number>>> {
	const store = await openStoreOf(box);
	const counts: Record<string, number> = {};
	for (const {kind} of await store.audit()) {
		counts[kind] = (counts[kind] ?? 0) + 1;
	}

	return counts;
}

/** Adds a queue entry that waits for all GPUs, and returns its id. */
async function waitInLine({box}: Scene): Promise<string> {
	waiter = start(box, 'run --gpus 3 -- true');
	await waiter.says(/position 1 of 1/v);
	const {queue} = await peek(box);
	return queue[0]!.id;
}

type TestedCommand = {
	readonly name: string;
	readonly arrange?: (scene: Scene) => Promise<string | undefined>;
	readonly words: string;
	readonly stdout: RegExp;
	/** The kind of the only event that the command must record. */
	readonly kind: string;
	readonly holders: string;
	readonly check?: (snapshot: Snapshot) => void;
};

const hold = async ({box}: Scene): Promise<undefined> => {
	await box.run('reserve --gpus 1 --duration 1h');
	return undefined;
};

const commands: readonly TestedCommand[] = [
	{
		name: 'reserve',
		words: 'reserve --gpus 1 --duration 1h',
		stdout: /^Reserved 1 GPU\(s\): \[0\]/v,
		kind: 'granted',
		holders: '0:MANUAL 1:- 2:-',
	},
	{
		name: 'run',
		words: 'run --gpus 1 -- printenv CUDA_VISIBLE_DEVICES',
		stdout: /^0\n$/v,
		kind: 'granted',
		holders: '0:- 1:- 2:-',
	},
	{
		name: 'extend',
		arrange: hold,
		words: 'extend --duration 2h',
		stdout: /^Extended 1 GPU\(s\): \[0\]\nGPU 0 expires in (?:2h 59m|3h 0m)/v,
		kind: 'extended',
		holders: '0:MANUAL 1:- 2:-',
		check({gpus, now}) {
			const [gpu] = gpus;
			const left = gpu?.kind === 'leased' ? gpu.lease.expiryTime! - now : 0;
			expect(left).toBeGreaterThan(2.9 * 3600);
			expect(left).toBeLessThan(3.01 * 3600);
		},
	},
	{
		name: 'release',
		arrange: hold,
		words: 'release',
		stdout: /^Released 1 GPU\(s\): \[0\]\n$/v,
		kind: 'released',
		holders: '0:- 1:- 2:-',
	},
	{
		name: 'queue --leave',
		async arrange(scene) {
			await hold(scene);
			return waitInLine(scene);
		},
		words: 'queue --leave',
		stdout: /^Left the queue/v,
		kind: 'left',
		holders: '0:MANUAL 1:- 2:-',
		check({queue}) {
			expect(queue).toEqual([]);
		},
	},
	{
		name: 'admin --drain',
		words: 'admin --drain 2 --reason fan',
		stdout: /^Took 1 GPU\(s\) out of service: \[2\]/v,
		kind: 'drained',
		holders: '0:- 1:- 2:-',
		check({drains}) {
			expect(drains.keys().toArray()).toEqual([2]);
		},
	},
	{
		name: 'admin --undrain',
		async arrange({box}) {
			await box.run('admin --drain 2');
			return undefined;
		},
		words: 'admin --undrain 2',
		stdout: /2/v,
		kind: 'undrained',
		holders: '0:- 1:- 2:-',
		check({drains}) {
			expect(drains.size).toBe(0);
		},
	},
];

const fates: readonly CommitFate[] = [
	'arrives before the next',
	'arrives after the next',
	'is carried out and its connection is cut',
	'never arrives',
];

const cases = commands.flatMap((command) => fates.map((fate) => ({...command, fate})));

// Every fifth case covers each command, with alternating fates.
test.each(everyNth(cases, 5))(
	'$name takes effect once and reports success if its first request to Redis $fate',
	async ({arrange, words, stdout, kind, fate, check, ...command}) => {
		const attempt = async () => {
			const scene = await setScene();
			const operand = await arrange?.(scene);
			const before = await auditCounts(scene);
			scene.proxy.meet([fate]);
			const typed = [...words.split(' '), ...(operand === undefined ? [] : [operand])];
			return {scene, before, ran: await scene.box.run(typed, scene.byProxy)};
		};

		let last = await attempt();
		// On a busy machine, the connection may not be back in time, which the command reports.
		for (let more = 4; last.ran.exitCode === 4 && more > 0; more--) {
			last = await attempt();
		}

		const {
			scene,
			scene: {box, proxy},
			before,
			ran,
		} = last;
		expect(proxy.commits()).toBeGreaterThan(0);
		await proxy.deliver();
		expect(proxy.arrived()).toBe(fate.startsWith('arrives') ? 1 : 0);
		expect(ran, ran.stderr).toMatchObject({exitCode: 0, stdout: expect.stringMatching(stdout) as unknown});
		expect((await auditCounts(scene))[kind]).toBe((before[kind] ?? 0) + 1);
		expect(await holders(box)).toBe(command.holders);
		check?.(await peek(box));
	},
);

slowTest.each(fates)('run joins the queue once and gets its GPU if its first request to join %s', async (fate) => {
	const scene = await setScene(1);
	const {box, proxy, byProxy} = scene;
	await box.run('reserve --gpus 1 --duration 1h');
	proxy.meet([fate]);
	const first = start(box, 'run --gpus 1 -- printenv CUDA_VISIBLE_DEVICES', byProxy);
	await first.says(/position 1 of 1/v);
	await eventually(async () => (await peek(box)).queue.length === 1);
	expect(proxy.commits()).toBeGreaterThan(0);
	await proxy.deliver();
	expect(proxy.arrived()).toBe(fate.startsWith('arrives') ? 1 : 0);
	await box.run('release');
	expect(await first.ended).toMatchObject({exitCode: 0, stdout: '0\n'});
	expect(first.stderr()).not.toContain('busy');
	expect(await auditCounts(scene)).toMatchObject({joined: 1, granted: 2});
	expect((await peek(box)).queue).toEqual([]);
});

slowTest.each(['reserve', 'extend'])(
	'%s takes effect once if Redis executes the request but answers too late',
	async (name) => {
		const {words, stdout, arrange, kind} = commands.find((command) => command.name === name)!;
		const scene = await setScene();
		await arrange?.(scene);
		const before = await auditCounts(scene);
		scene.proxy.meet(['is carried out and not answered']);
		const ran = await scene.box.run(words, scene.byProxy);
		expect(scene.proxy.commits()).toBeGreaterThan(0);
		expect(ran.exitCode).toBe(0);
		expect(ran.stdout).toMatch(stdout);
		expect((await auditCounts(scene))[kind]).toBe((before[kind] ?? 0) + 1);
	},
);

slowTest('reserve says that a GPU may be reserved if Redis becomes unreachable before answering', async () => {
	const {box, proxy, byProxy} = await setScene();
	proxy.meet(['arrives when told']);
	const command = start(box, 'reserve --gpus 1 --duration 1h', byProxy);
	await eventually(() => proxy.commits() === 1);
	await proxy.shut();
	const ended = await command.ended;
	expect(ended).toMatchObject({exitCode: 4, stdout: ''});
	expect(ended.stderr).toContain(
		'The change may have happened, or may still happen: see canhazgpu status before you try again.',
	);
	expect(await holders(box)).toBe('0:- 1:- 2:-');
	await proxy.deliver();
	expect(await holders(box)).toBe('0:MANUAL 1:- 2:-');
});
