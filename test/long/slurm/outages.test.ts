/**
Kills Slurm's daemons one after another while jobs run. Every interface shows that its values are old and since when, and recovers by itself. The
commands of `run` continue.
*/
import {spawnSync} from 'node:child_process';
import {existsSync, mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import process from 'node:process';
import {expect, onTestFinished, test} from 'vitest';
import {eventually} from '../../_helpers/eventually.js';
import {starter, starterText, type Ran} from '../../_helpers/program/cli.js';
import {start} from '../../_helpers/program/processes.js';
import {ask, listenTo, startWeb} from '../../web/_server.js';
import {clusterOfFile, type Row} from './_cluster.js';

/** The controller notices a killed node after up to two thirds of this time, and fails its jobs at the end of it. */
const nodeTimeoutSeconds = 150;

const {slurm, box, rows} = clusterOfFile({nodeTimeoutSeconds});

/** A monitor in its own tmux. */
type Monitor = {
	readonly screen: () => string;
	readonly shows: (pattern: RegExp, milliseconds?: number) => Promise<string>;
	readonly type: (key: string) => void;
};

function startMonitor(columns: number, lines: number): Monitor {
	const folder = mkdtempSync(path.join(tmpdir(), 'canhazgpu-tmux-'));
	const environment = {...process.env, ...box().environment, LC_ALL: 'C.UTF-8', SHELL: '/bin/sh'};
	const tmux = (...words: readonly string[]): string => {
		const {status, stdout, stderr} = spawnSync(
			'tmux',
			['-u', '-S', path.join(folder, 'socket'), '-f', '/dev/null', ...words],
			{
				encoding: 'utf8',
				env: environment,
				cwd: box().home,
			},
		);
		if (status !== 0) {
			throw new Error(`tmux ${words[0]}: ${stderr}`);
		}

		return stdout;
	};

	tmux('new-session', '-d', '-x', String(columns), '-y', String(lines), starter, ...starterText, 'top');
	onTestFinished(() => {
		// Tmux ends when its only program ends.
		spawnSync('tmux', ['-S', path.join(folder, 'socket'), 'kill-server']);
		rmSync(folder, {recursive: true, force: true});
	});
	const screen = (): string => tmux('capture-pane', '-p');
	return {
		screen,
		async shows(pattern, milliseconds = 60_000) {
			await expect.poll(screen, {timeout: milliseconds, interval: 200}).toMatch(pattern);
			return screen();
		},
		type(key) {
			tmux('send-keys', key);
		},
	};
}

const commands = ['status', 'status --json', 'queue', 'queue --json'] as const;

const answers = async (): Promise<ReadonlyArray<readonly [string, Ran]>> =>
	Promise.all(commands.map(async (words) => [words, await box().run(words)] as const));

/** Checks that every command names the unreachable daemon and gives a hint, and prints nothing that looks like a result. */
async function expectRefusals(words: RegExp): Promise<void> {
	for (const [command, {exitCode, stdout, stderr}] of await answers()) {
		expect([command, exitCode, stdout]).toEqual([command, 4, '']);
		expect(stderr).toMatch(words);
	}
}

async function expectAnswers(): Promise<void> {
	for (const [command, {exitCode, stderr}] of await answers()) {
		expect([command, exitCode, stderr.includes('Error')]).toEqual([command, 0, false]);
	}
}

test('top, web and the commands report that slurmctld, slurmd or munged is down', async () => {
	const monitors = [startMonitor(80, 24), startMonitor(120, 32)];
	const web = await startWeb(box());
	onTestFinished(async () => {
		await web.end('SIGKILL');
	});
	const stream = listenTo(web.port);
	onTestFinished(stream.close);
	/** The page's state of the store. Each message contains what has changed. */
	const store = (): Row | undefined =>
		stream.messages.findLast(({data}) => data['store'] !== undefined)?.data['store'] as Row | undefined;
	const kept = start(
		box(),
		[
			'run',
			'-g',
			'2',
			'--on',
			'box1',
			'--note',
			'kept',
			'--',
			'sh',
			'-c',
			'until [ -e go ]; do sleep 0.2; done; exit 9',
		],
		{CANHAZGPU_RUN_QUIET: 'false'},
	);
	await kept.says(/^Reserved 2 GPU\(s\): \[0 1\]/mv);
	const jobId = slurm().run('squeue', '--noheader', '--states=RUNNING', '--format=%i').trim();
	// This request waits through all outages.
	await box().run('reserve -g 4 --on box2');
	const waiter = start(box(), ['run', '-g', '4', '--on', 'box2', '--', 'sh', '-c', 'echo served; exit 7'], {
		CANHAZGPU_RUN_QUIET: 'false',
	});
	await eventually(async () => (await box().run('queue')).stdout.includes('4 GPUs'));
	const isWell = async (): Promise<void> => {
		for (const monitor of monitors) {
			await monitor.shows(/\[LIVE\][\s\S]*Free 6 +Mine 6 +Others 0 +Unreserved 0 +Error 0 +Queue 1/v);
		}

		await expect.poll(store).toEqual({live: true});
		await eventually(async () => (await rows()).filter(({status}) => status === 'IN_USE').length === 6);
		await expectAnswers();
	};

	await isWell();

	/** Checks that the values are shown as old since the kill. */
	const expectOld = async (daemon: 'slurmctld' | 'munged', words: RegExp): Promise<void> => {
		await slurm().kill(daemon);
		const killedMs = Date.now();
		for (const monitor of monitors) {
			const screen = await monitor.shows(/\[STALE \d+s\][\s\S]*Mine 6/v);
			const {age} = /\[STALE (?<age>\d+)s\]/v.exec(screen)!.groups!;
			// The monitor queries Slurm once a second.
			expect(Math.abs(Date.now() - Number(age) * 1000 - killedMs)).toBeLessThan(3000);
			await monitor.shows(words);
		}

		await expect.poll(store).toMatchObject({live: false, reason: expect.stringMatching(words) as string});
		expect(Math.abs(Number(store()!['since_ms']) - killedMs)).toBeLessThan(2000);
		expect((await ask(web.port, '/api/status')).status).toBe(503);
		await expectRefusals(words);
	};

	// Slurm saves a job only when it changes.
	slurm().run('scontrol', 'update', `JobId=${jobId}`, 'Comment=kept');
	await slurm().saved();
	await expectOld('slurmctld', /controller does not answer/v);
	await slurm().start('slurmctld');
	await isWell();

	const countBefore = stream.messages.length;
	await slurm().kill('box1');
	const lost = 'node box1 does not answer';
	await eventually(async () => {
		const ofNode = (await rows()).filter(({node}) => node === 'box1');
		const inUse = ofNode.filter(({status}) => status === 'IN_USE');
		const others = ofNode.filter(({status}) => status === 'ERROR');
		return inUse.length === 2 && others.length === 2 && ofNode.every((row) => JSON.stringify(row).includes(lost));
	}, nodeTimeoutSeconds * 1000);
	const {stdout: table} = await box().run('status');
	expect(table).toMatch(/box1:0 │ ● IN_USE .*unknown: node box1 does not answer/v);
	expect(table).toMatch(/box1:3 │ ✗ ERROR .*node box1 does not answer/v);
	expect(table).toMatch(/box3:0 │ ● AVAILABLE/v);
	for (const monitor of monitors) {
		await monitor.shows(/ 0 +Mine .*node box1 does/v);
		expect(monitor.screen()).toMatch(/Free 4 +Mine 6 +Others 0 +Unreserved 0 +Error 2/v);
	}

	await expect
		.poll(() => stream.messages.slice(countBefore).some(({data}) => JSON.stringify(data['gpus'] ?? []).includes(lost)))
		.toBe(true);
	await slurm().start('box1');
	await isWell();

	await expectOld('munged', /munge/iv);
	await slurm().start('munged');
	await isWell();

	expect(kept.stderr()).not.toMatch(/error/iv);
	writeFileSync(path.join(box().home, 'go'), '');
	expect(await kept.ended).toMatchObject({exitCode: 9});
	await box().run('release');
	expect(await waiter.ended).toMatchObject({exitCode: 7, stdout: 'served\n'});
	for (const monitor of monitors) {
		await monitor.shows(/Free 12 +Mine 0 +Others 0 +Unreserved 0 +Error 0 +Queue 0/v);
		monitor.type('q');
	}
}, 400_000);

test.each(['true', 'false'])(
	'run on Slurm exits with 137 if the node of the command fails (quiet: %s)',
	async (quiet) => {
		const begun = path.join(box().home, `begun-${quiet}`);
		const job = start(box(), ['run', '-g', '1', '--on', 'box3', '--', 'sh', '-c', `touch ${begun}; sleep 100`], {
			CANHAZGPU_RUN_QUIET: quiet,
		});
		await eventually(() => existsSync(begun));
		// Slurm cannot detect a failed node at once.
		const beganMs = performance.now();
		await eventually(() => performance.now() - beganMs > 2000);
		slurm().run('scontrol', 'update', 'NodeName=box3', 'State=DOWN', 'Reason=power');
		const {exitCode, stderr} = await job.ended;
		// The node may have come back by itself, because its slurmd still runs.
		spawnSync('scontrol', ['update', 'NodeName=box3', 'State=RESUME'], {env: {...process.env, ...slurm().environment}});
		expect([exitCode, stderr.includes('Node failure on box3')]).toEqual([137, true]);
	},
);
