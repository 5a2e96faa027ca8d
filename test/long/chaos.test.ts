/**
Many processes reserve, run and wait while processes, connections, files, clocks and the store fail at random. No GPU ever has two holders.
`CHAOS_SECONDS=600` runs each test for ten minutes. `CHAOS_SEED` repeats the random choices, as far as processes allow.
*/
import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {
	cpSync,
	existsSync,
	mkdirSync,
	readdirSync,
	readFileSync,
	renameSync,
	rmSync,
	symlinkSync,
	writeFileSync,
} from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import {setTimeout as sleep} from 'node:timers/promises';
import {fileURLToPath} from 'node:url';
import {beforeAll, expect, onTestFinished, test} from 'vitest';
import {
	chaosOnFiles,
	chaosOnRedis,
	ensureTracer,
	pickBy,
	type ChaosGround,
	type Fault,
} from '../_helpers/program/chaos-grounds.js';
import {program} from '../_helpers/program/cli.js';
import {eventually} from '../_helpers/eventually.js';
import {canEnter, processesOnly} from '../_helpers/machine/namespaces.js';
import {isAlive, openStoreOf, peek, recordsOf, start, type Started} from '../_helpers/program/processes.js';
import {checkAuditLog} from '../_helpers/store/audit-log.js';
import {randomFrom} from '../_helpers/world.js';
import {holdingsIn} from '../../source/core/rules/leases/holdings.js';

/** Shortest duration. The longest is ten times that, for slow machines where less happens in the same time. */
const seconds = Number(process.env['CHAOS_SECONDS'] ?? 60);
const seed = Number(process.env['CHAOS_SEED'] ?? 1 + Math.floor(Math.random() * 2 ** 30));
const workerCount = 8;
const gpuCount = 4;

/** How many times a fault is repeated until it affects something. */
const tries = 20;

/** A waiter with an invisible process is dropped after two minutes without a heartbeat and one minute of being watched. */
const silenceMs = 300_000;

const job = fileURLToPath(new URL('../_helpers/program/chaos-job.sh', import.meta.url));

/** A command that locks these GPUs, or those that `run` granted. */
const locks = (gpus: string, forSeconds: string, name: string) => ['bash', job, gpus, forSeconds, name];

const withoutBootId = canEnter(processesOnly);

beforeAll(ensureTracer, 400_000);

/** A copy of the program that can be replaced while it runs. */
function installIn(home: string) {
	const directory = path.join(home, 'installed');
	const current = path.join(directory, 'current');
	let version = 0;
	mkdirSync(directory);
	// A copy needs a package.json that declares ES modules, and the libraries.
	writeFileSync(path.join(directory, 'package.json'), '{"type": "module"}');
	symlinkSync(fileURLToPath(new URL('../../node_modules', import.meta.url)), path.join(directory, 'node_modules'));
	const upgrade = (): void => {
		const next = `version-${++version}`;
		cpSync(path.dirname(program), path.join(directory, next), {
			recursive: true,
			filter: (source) => !path.basename(source).startsWith('canhazgpu-'),
		});
		symlinkSync(next, `${current}.new`);
		renameSync(`${current}.new`, current);
		rmSync(path.join(directory, `version-${version - 1}`), {recursive: true, force: true});
	};

	upgrade();
	return {upgrade, command: [process.execPath, path.join(current, 'cli.js')] as const};
}

const shuffled = <Item>(items: readonly Item[], random: () => number): readonly Item[] =>
	items
		.map((item) => ({item, rank: random()}))
		.toSorted((a, b) => a.rank - b.rank)
		.map(({item}) => item);

async function chaos(ground: ChaosGround, hasLosses: boolean, random: () => number): Promise<void> {
	const {box} = ground;
	const pick = pickBy(random);
	const inBox = (name: string): string => path.join(box.home, name);
	const installed = installIn(box.home);
	const startMs = performance.now();
	const running = new Set<Started>();
	/** The `run` processes, which restore what they have read after a data loss. */
	const wrappers = new Set<Started>();
	const unjudged = new WeakSet<Started>();
	const holders = new Set<ReturnType<typeof spawn>>();
	const counts = {ends: new Map<string, number>(), faults: new Map<string, {tried: number; met: number}>()};
	/** Runs that exited with 0 while the store lost nothing, by label, with the number of GPUs. */
	const wellEnded = new Map<string, number>();
	/** How many times the store has lost data. */
	let era = 0;
	/** Resolves when no data loss is in progress. */
	let lost = Promise.resolve();
	let upgradedMs = -Infinity;
	/** Whether a command has succeeded that was started after the last upgrade. If not, a slow machine would start nothing but replaced programs. */
	let hasRunSinceUpgrade = true;
	let names = 0;

	/** The faults that have affected nothing yet. Such a fault proves nothing. */
	const unmetFaults = (): readonly string[] =>
		Object.keys(faults).filter((name) => (counts.faults.get(name)?.met ?? 0) === 0);

	// With data losses, a released reservation can return from a backup and hold its GPUs for hours.
	const leastRuns = hasLosses ? 1 : 11;
	const hasRunOften = (): boolean => (counts.ends.get('run 0') ?? 0) >= leastRuns;

	const isOver = (): boolean => {
		const passedSeconds = (performance.now() - startMs) / 1000;
		return passedSeconds > (hasRunOften() && unmetFaults().length === 0 ? seconds : 10 * seconds);
	};

	const end = async (words: readonly string[], own: () => number) => {
		await lost;

		const startedMs = performance.now();
		const [node, ...rest] = installed.command;
		const isWithoutBootId = withoutBootId && own() < 0.04;
		const started = start(
			box,
			words,
			ground.environment(),
			isWithoutBootId
				? ['unshare', ...processesOnly.flags, 'sh', '-c', `${processesOnly.prepare!} && exec "$@"`, 'sh', node, ...rest]
				: [node, ...rest],
		);
		running.add(started);
		if (words[0] === 'run') {
			wrappers.add(started);
		}

		if (isWithoutBootId) {
			unjudged.add(started);
		}

		const ended = await started.ended;
		hasRunSinceUpgrade ||= ended.exitCode === 0 && startedMs > upgradedMs;
		running.delete(started);
		wrappers.delete(started);
		const why =
			ended.exitCode === 1
				? `: ${ended.stderr.split('\n').findLast((line) => line.startsWith('Error: ')) ?? ended.stderr}`
				: '';
		const what = `${words[0]!} ${ended.signal ?? ended.exitCode}${why}`;
		counts.ends.set(what, (counts.ends.get(what) ?? 0) + 1);
		// A process that starts while the program is replaced can find files missing.
		const isCaughtByUpgrade = /ERR_MODULE_NOT_FOUND|ENOENT/v.test(ended.stderr) && upgradedMs > startedMs - 2000;
		if (!isCaughtByUpgrade) {
			expect(ended.stderr, words.join(' ')).not.toMatch(/^ +at |is a bug/mv);
		}

		return ended;
	};

	const reserveForAWhile = async (own: () => number): Promise<void> => {
		const eraBefore = era;
		const name = `reserve-${names++}`;
		const {exitCode, stdout} = await end(
			['reserve', '--short', '--user', name, '--wait', '2s', '--gpus', pickBy(own)(['1', '2'])],
			own,
		);
		if (exitCode === 0 && era === eraBefore) {
			const [command, ...words] = locks(stdout.trim(), '60', name) as [string, ...string[]];
			const holder = spawn(command, words, {cwd: box.home, stdio: 'ignore'});
			holders.add(holder);
			await sleep(own() * 1000);
			holder.kill('SIGKILL');
			if (holder.exitCode === null && holder.signalCode === null) {
				await once(holder, 'exit');
			}

			holders.delete(holder);
		}

		// Needed after a kill too, because the GPUs may have been granted. A failed release is repeated.
		let released: number | undefined;
		while (released !== 0 && !isOver()) {
			({exitCode: released} = await end(['release', '--user', name], own));
		}
	};

	const runForAWhile = async (own: () => number): Promise<void> => {
		const eraBefore = era;
		const gpus = pickBy(own)([1, 1, 2, 3]);
		const name = `run-${names++}`;
		const lock = locks('', (own() * 1.5).toFixed(2), name);
		const {exitCode} = await end(['run', '--wait', '20s', '--user', name, '--gpus', String(gpus), '--', ...lock], own);
		if (exitCode === 0 && era === eraBefore) {
			wellEnded.set(name, gpus);
		}
	};

	const work = async (own: () => number): Promise<void> => {
		while (!isOver()) {
			await (own() < 0.3 ? reserveForAWhile(own) : runForAWhile(own));
		}
	};

	const signal = (name: NodeJS.Signals): boolean => {
		// A process with an unknown boot id would hold its GPUs for a quarter of an hour after SIGKILL, and soon no GPU would be left.
		const chosen = pick([...running].filter((started) => name !== 'SIGKILL' || !unjudged.has(started)));
		if (chosen === undefined || !isAlive(chosen.pid)) {
			return false;
		}

		chosen.kill(name);
		return true;
	};

	const jobs = (): ReadonlyArray<{readonly pid: number; readonly wrapper: number}> =>
		readdirSync(box.home)
			.filter((file) => file.startsWith('job-'))
			.map((file) => {
				const text = existsSync(inBox(file)) ? readFileSync(inBox(file), 'utf8') : '';
				return {pid: Number(file.slice(4)), wrapper: Number(text)};
			});

	const killJob = (pid: number | undefined): boolean => {
		if (pid === undefined) {
			return false;
		}

		rmSync(inBox(`job-${pid}`), {force: true});
		try {
			return process.kill(pid, 'SIGKILL');
		} catch {
			return false;
		}
	};

	/** Whether all running processes are in the store, as holders or in the queue, so that they have read it and can restore it. */
	const areAllKnown = async (): Promise<boolean> => {
		const {gpus, queue} = await peek(box);
		const known = new Set([
			...holdingsIn(gpus).map(({lease}) => lease.holder?.pid),
			...queue.map((record) => (record.kind === 'entry' ? record.entry.holder?.pid : undefined)),
		]);
		return [...running].every(({pid}) => known.has(pid));
	};

	/**
	Makes the store lose data while jobs run and requests wait. A process that has not yet read the lost data cannot restore it, so this waits until
	all are in the store, and starts no new ones until then.
	*/
	const lose = async (fault: Fault): Promise<boolean> => {
		const {promise, resolve} = Promise.withResolvers<void>();
		lost = promise;
		await eventually(areAllKnown);
		era++;
		// Data that no remaining process has read cannot be restored, so reservations and jobs without a wrapper end first.
		for (const holder of holders) {
			holder.kill('SIGKILL');
		}

		for (const {pid, wrapper} of jobs()) {
			if (!isAlive(wrapper)) {
				killJob(pid);
			}
		}

		// If no wrapper could restore the pool, an administrator would have to create it again.
		const hasMet = wrappers.size > 0 && (await fault());
		await eventually(areAllKnown);
		// A restored backup can contain reservations that were released since, which would hold their GPUs for hours.
		const {gpus} = await peek(box);
		const cameBack = holdingsIn(gpus).filter(({lease}) => lease.type === 'manual');
		for (const user of new Set(cameBack.map(({lease}) => lease.user))) {
			await box.run(['release', '--user', user]);
		}

		era++;
		resolve();
		return hasMet;
	};

	const faults: Readonly<Record<string, Fault>> = {
		...ground.faults,
		'kill a process': () => signal('SIGKILL'),
		'kill a job': () => killJob(pick(jobs())?.pid),
		'hang up': () => signal('SIGHUP'),
		async 'stop a while'() {
			const stopped = pick([...running]);
			stopped?.kill('SIGSTOP');
			await sleep(700);
			stopped?.kill('SIGCONT');
			return stopped !== undefined;
		},
		upgrade() {
			if (!hasRunSinceUpgrade) {
				return false;
			}

			hasRunSinceUpgrade = false;
			upgradedMs = Infinity;
			installed.upgrade();
			upgradedMs = performance.now();
			return true;
		},
		'I/O error': async () => ground.fail([...running].map(({pid}) => pid)),
		...(hasLosses &&
			Object.fromEntries(Object.entries(ground.losses).map(([name, fault]) => [name, async () => lose(fault)]))),
	};

	const disturb = async (): Promise<void> => {
		// In random order, but each one equally often.
		const queue: Array<keyof typeof faults> = [];
		while (!isOver()) {
			await sleep(random() * 600);
			if (queue.length === 0) {
				queue.push(...shuffled(Object.keys(faults), random));
			}

			const name = queue.pop()!;
			let hasMet = false;
			for (let more = tries; more > 0 && !hasMet && !isOver(); more--) {
				const {tried, met} = counts.faults.get(name) ?? {tried: 0, met: 0};
				hasMet = await faults[name]!();
				counts.faults.set(name, {tried: tried + 1, met: met + (hasMet ? 1 : 0)});
				await sleep(hasMet ? 0 : 100);
			}
		}
	};

	await Promise.all([
		disturb(),
		...Array.from({length: workerCount}, async (_, index) => work(randomFrom(seed + index + 1))),
	]);
	const twice = existsSync(inBox('twice')) ? readFileSync(inBox('twice'), 'utf8') : '';
	console.log(
		JSON.stringify({
			seed,
			ends: Object.fromEntries(counts.ends),
			faults: Object.fromEntries(Array.from(counts.faults, ([name, {tried, met}]) => [name, `${met} of ${tried}`])),
			twice,
		}),
	);
	expect(twice).toBe('');
	expect(unmetFaults()).toEqual([]);

	// Jobs of killed wrappers end by themselves, and reservations of killed processes are released here.
	await eventually(() => jobs().every(({pid}) => !isAlive(pid)));
	expect(await box.run(['release', '--gpu-ids', '0,1,2,3'])).toMatchObject({exitCode: 0});
	const store = await openStoreOf(box);
	// Killed processes with an unknown boot id are dropped only for their silence.
	await eventually(async () => {
		expect(await box.run('status')).toMatchObject({exitCode: 0});
		const {gpus, queue} = await store.read();
		return queue.length === 0 && gpus.every(({kind}) => kind === 'free');
	}, silenceMs);
	const snapshot = await store.read();
	const records = await recordsOf(box);
	const holds = records.map(({leaseId, gpuId, startTime}) => `${leaseId}/${gpuId}/${startTime}`);
	expect(holds.filter((hold, index) => holds.indexOf(hold) !== index)).toEqual([]);
	if (!hasLosses) {
		await checkAuditLog({store}, snapshot, {isCrowd: true});
		const missing = wellEnded
			.entries()
			.filter(
				([name, gpus]) =>
					records.filter(({user, endReason}) => user === name && endReason === 'exited').length !== gpus,
			)
			.toArray();
		expect(missing).toEqual([]);
	}

	expect(hasRunOften(), JSON.stringify(Object.fromEntries(counts.ends))).toBe(true);
}

const grounds = {Redis: chaosOnRedis, 'the embedded store': chaosOnFiles};

test.each(Object.keys(grounds).flatMap((name) => [false, true].map((hasLosses) => ({name, hasLosses}))))(
	`random commands, faults and kills keep the pool consistent on $name, data lost: $hasLosses (CHAOS_SEED=${seed})`,
	{timeout: 10 * seconds * 1000 + silenceMs + 100_000},
	async ({name, hasLosses}) => {
		const random = randomFrom(seed);
		const ground = await grounds[name as keyof typeof grounds](gpuCount, random);
		onTestFinished(() => {
			rmSync(path.join(ground.box.home, 'installed'), {recursive: true, force: true});
		});
		await chaos(ground, hasLosses, random);
	},
);
