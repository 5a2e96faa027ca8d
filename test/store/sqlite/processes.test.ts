/** Several processes and accounts that use the same SQLite pool. */
import {once} from 'node:events';
import {chmodSync, mkdirSync, statSync} from 'node:fs';
import process from 'node:process';
import {setTimeout as sleep} from 'node:timers/promises';
import {afterAll, beforeAll, describe, expect, onTestFinished, test} from 'vitest';
import {openSqliteStore} from '../../../source/store/sqlite/index.js';
import {eventually} from '../../_helpers/eventually.js';
import {leaseOn, leaseWrite, poolWrite, write} from '../samples.js';
import {slowTest} from '../../_helpers/slow.js';
import {makeWorkshop, type Workshop} from './child.js';

let workshop: Workshop;
beforeAll(async () => {
	workshop = await makeWorkshop();
});
afterAll(() => {
	workshop.remove();
});

let count = 0;
/** Returns a new path in a directory that does not exist yet. */
const newFile = (): string => `${workshop.directory}/pool-${count++}/pool.db`;
const modeOf = (file: string): string => (statSync(file).mode % 0o1_0000).toString(8);

test('four processes that increment a counter in one SQLite pool lose no increment', async () => {
	const file = newFile();
	const store = await openSqliteStore({path: file, create: true});
	await write(store, poolWrite(1), leaseWrite(0, {note: '0'}));
	const counting = `
		const store = await openSqliteStore({path: file, create: false});
		for (let done = 0; done < 50; ) {
			const {gpus: [gpu]} = await store.read();
			const next = plan({
				expect: [{kind: 'gpu', index: 0, raw: gpu.raw}],
				writes: [lease(0, String(Number(gpu.lease.note) + 1))],
			});
			if ((await store.commit(next)) === 'done') {
				done++;
			}
		}
		await store.close();
		say('done');`;
	const ends = await Promise.all(Array.from({length: 4}, async () => workshop.run(counting, {file})));
	expect(ends).toEqual(Array.from({length: 4}, () => ({said: ['done'], stderr: ''})));
	expect(leaseOn(await store.read(), 0).note).toBe('200');
	await store.close();
});

slowTest('a killed process leaves no partly written commit', async () => {
	const file = newFile();
	const store = await openSqliteStore({path: file, create: true});
	await write(store, poolWrite(8));
	for (let round = 0; round < 8; round++) {
		const child = workshop.start(
			`const store = await openSqliteStore({path: file, create: false});
			for (let i = 0; ; i++) {
				await store.commit(plan({writes: Array.from({length: 8}, (_, index) => lease(index, '${round}-' + i))}));
			}`,
			{file},
		);
		await eventually(async () => leaseOn(await store.read(), 0).note?.startsWith(`${round}-`));
		await sleep(Math.random() * 20);
		child.kill('SIGKILL');
		await once(child, 'exit');
		const snapshot = await store.read();
		expect(new Set(snapshot.gpus.map(({index}) => leaseOn(snapshot, index).note)).size).toBe(1);
		expect(await write(store, leaseWrite(0))).toBe('done');
	}

	await store.close();
});

slowTest("a terminal's stop signal never stops a background process inside a SQLite transaction", async () => {
	const file = newFile();
	const store = await openSqliteStore({path: file, create: true});
	await write(store, poolWrite(1), leaseWrite(0, {note: ''}));
	const child = workshop.start(
		`say(process.pid);
		const store = await openSqliteStore({path: file, create: false});
		for (let i = 0; ; i++) {
			await store.commit(plan({writes: [lease(0, String(i))]}));
			await new Promise((resolve) => setTimeout(resolve, 1));
		}`,
		{file, isJob: true},
	);
	const [said] = (await once(child.stdout!, 'data')) as readonly unknown[];
	const pid = Number(said);
	onTestFinished(() => {
		process.kill(pid, 'SIGKILL');
	});
	await eventually(async () => leaseOn(await store.read(), 0).note !== '');
	for (let round = 0; round < 50; round++) {
		process.kill(pid, round % 2 === 0 ? 'SIGTTIN' : 'SIGTTOU');
		await store.read();
		process.kill(pid, 'SIGCONT');
	}

	await store.close();
});

test('if many processes create the same SQLite pool at the same time, only one of them succeeds', async () => {
	const file = newFile();
	const ends = await Promise.all(
		Array.from({length: 6}, async () =>
			workshop.run(
				`const stores = await Promise.all(Array.from({length: 5}, () => openSqliteStore({path: file, create: true})));
				const making = plan({expect: [{kind: 'pool', gpuCount: undefined}], writes: [pool(2)]});
				say(await Promise.all(stores.map((store) => store.commit(making))));`,
				{file},
			),
		),
	);
	const outcomes = ends.flatMap(({said}) => said.flat());
	expect(outcomes.filter((outcome) => outcome === 'done')).toHaveLength(1);
	expect(outcomes.filter((outcome) => outcome === 'conflict')).toHaveLength(29);
});

test("loading SQLite hides only SQLite's own experimental warning", async () => {
	const {said, stderr} = await workshop.run(
		`const store = await openSqliteStore({path: file, create: true});
		process.emitWarning('of another thing', 'ExperimentalWarning');
		say((await store.read()).gpus);`,
		{file: newFile()},
	);
	expect(said).toEqual([[]]);
	expect(stderr).toContain('of another thing');
	expect(stderr).not.toContain('SQLite');
});

test('a subscription to a SQLite pool does not keep a process alive', async () => {
	const {said} = await workshop.run(
		`const store = await openSqliteStore({path: file, create: true});
		await store.subscribe({changed() {}});
		say('end');`,
		{file: newFile()},
	);
	expect(said).toEqual(['end']);
});

describe('the permissions of a SQLite pool', () => {
	const readAndWrite = `
		say(embeddedPoolExists(file));
		const store = await openSqliteStore({path: file, create: false});
		say((await store.read()).pool.gpuCount);
		say(await store.commit(plan({writes: [lease(0, 'mine')]})));
		await store.close();`;

	test('allow everybody to write a shared pool and its journal, whatever the umask', async () => {
		const file = newFile();
		const {said} = await workshop.run(
			`const store = await openSqliteStore({path: file, create: true, directoryMode: 0o755, fileMode: 0o666});
			say(await store.commit(plan({writes: [pool(2)]})));
			process.kill(process.pid, 'SIGKILL');`,
			{file, umask: 0o077},
		);
		expect(said).toEqual(['done']);
		expect(modeOf(file)).toBe('666');
		expect(modeOf(`${file}-wal`)).toBe('666');
		expect(modeOf(`${file}-signal`)).toBe('666');
		expect(modeOf(file.replace('/pool.db', ''))).toBe('755');
		const stranger = await workshop.run(readAndWrite, {file, isStranger: true, umask: 0o077});
		expect(stranger).toEqual({said: [true, 2, 'done'], stderr: ''});
		const owner = await workshop.run(readAndWrite, {file, umask: 0o077});
		expect(owner.said).toEqual([true, 2, 'done']);
	});

	test('allow only the group to write a group pool, and only the owner a private pool', async () => {
		const [group, own] = [newFile(), newFile()];
		await workshop.run('await openSqliteStore({path: file, create: true, directoryMode: 0o2750, fileMode: 0o660})', {
			file: group,
			umask: 0o077,
		});
		expect([modeOf(group), modeOf(group.replace('/pool.db', ''))]).toEqual(['660', '2750']);
		await workshop.run('await openSqliteStore({path: file, create: true})', {file: own, umask: 0});
		expect([modeOf(own), modeOf(own.replace('/pool.db', ''))]).toEqual(['600', '700']);
	});

	test('let the same accounts enter parent directories that the pool creates', async () => {
		for (const [directoryMode, shown] of [
			[0o755, '755'],
			[0o2750, '2750'],
		] as const) {
			const parent = newFile().replace('/pool.db', '');
			const file = `${parent}/missing/pool/pool.db`;
			await workshop.run(
				`await openSqliteStore({path: file, create: true, directoryMode: ${directoryMode}, fileMode: 0o660})`,
				{file, umask: 0o077},
			);
			expect([parent, `${parent}/missing`, `${parent}/missing/pool`].map((name) => modeOf(name))).toEqual([
				shown,
				shown,
				shown,
			]);
		}
	});

	/** Leaves only root access to the files of a pool, and lets another account try to use them. */
	const tryAsStranger = async (fileMode: number, directoryMode: number) => {
		const file = newFile();
		const directory = file.replace('/pool.db', '');
		const store = await openSqliteStore({path: file, create: true, directoryMode: 0o755, fileMode: 0o644});
		await write(store, poolWrite(2));
		await store.close();
		chmodSync(file, fileMode);
		chmodSync(directory, directoryMode);
		const {said, stderr} = await workshop.run(readAndWrite, {file, isStranger: true});
		chmodSync(directory, 0o755);
		return {file, said, stderr};
	};

	test('lead to an error without a stack trace if they forbid writing', async () => {
		const {file, said, stderr} = await tryAsStranger(0o444, 0o555);
		expect(stderr).toBe('');
		expect(said.at(-1)).toMatchObject({
			name: 'CanhazgpuError',
			code: 'store-unreachable',
			hint: expect.any(String) as string,
		});
		expect((said.at(-1) as Error).message).toBe(`The GPU pool ${file} can be used only by its owner`);
	});

	test('lead to errors if they forbid reading the pool or its directory', async () => {
		const unreadable = await tryAsStranger(0o000, 0o755);
		expect(unreadable.said).toMatchObject([true, {code: 'store-unreachable'}]);
		const closed = await tryAsStranger(0o644, 0o000);
		expect(closed.said).toMatchObject([
			{code: 'store-unreachable', message: `The GPU pool ${closed.file} cannot be opened: permission denied`},
		]);
	});

	test('lead to an error if they forbid creating files in the directory', async () => {
		const directory = `${workshop.directory}/closed`;
		mkdirSync(directory, {mode: 0o555});
		const {said} = await workshop.run('await openSqliteStore({path: file, create: true})', {
			file: `${directory}/deeper/pool.db`,
			isStranger: true,
		});
		expect(said).toMatchObject([{code: 'store-unreachable'}]);
	});
});

test('a full disk leads to an error and never to a partly written commit', async () => {
	const file = newFile();
	const store = await openSqliteStore({path: file, create: true});
	await write(store, poolWrite(2), leaseWrite(0, {note: 'before'}), leaseWrite(1, {note: 'before'}));
	const {said, stderr} = await workshop.run(
		`const store = await openSqliteStore({path: file, create: false});
		const big = 'x'.repeat(2_000_000);
		await store.commit(plan({writes: [lease(0, 'after'), lease(1, big)]}));`,
		{file, largestFileKiB: 500},
	);
	expect(stderr).toBe('');
	expect(said).toMatchObject([
		{
			code: 'store-refused',
			message: `The GPU pool ${file} cannot be written: disk error, or your disk quota is exhausted`,
		},
	]);
	const snapshot = await store.read();
	expect([0, 1].map((index) => leaseOn(snapshot, index).note)).toEqual(['before', 'before']);
	expect(await write(store, leaseWrite(0))).toBe('done');
	await store.close();
	expect(process.exitCode).toBeUndefined();
});
