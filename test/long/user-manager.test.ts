/** Detached jobs in the systemd of their user, which is a real user manager. */
import {readFileSync} from 'node:fs';
import path from 'node:path';
import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import {eventually} from '../_helpers/eventually.js';
import {hasUserManager, startUserManager, type UserManager} from '../_helpers/machine/user-manager.js';

type Row = Readonly<Record<string, unknown>>;

describe.skipIf(!hasUserManager())('with a systemd user manager', () => {
	let manager: UserManager;
	beforeAll(async () => {
		manager = await startUserManager(2);
	});
	afterAll(async () => manager.stop());

	const jobOf = (id: string): Row | undefined =>
		(JSON.parse(manager.canhazgpu('jobs', '--json').stdout) as readonly Row[]).find((job) => job['id'] === id);
	const unitsOf = (id: string): readonly string[] =>
		manager
			.run('systemctl', '--user', 'list-units', '--no-legend', '--plain', '--no-pager', `canhazgpu-job-${id}-*`)
			.stdout.split('\n')
			.map((line) => line.split(' ', 1)[0]!)
			.filter((unit) => unit !== '');
	const isRunning = async (id: string) => eventually(() => jobOf(id)?.['state'] === 'running');

	describe('and lingering enabled', () => {
		beforeAll(async () => manager.linger(true));

		test('a job runs in a transient unit, which outlives the login session and ends with the job', async () => {
			const command = 'tail -n 1 /proc/self/cgroup; until [ -e go ]; do sleep 0.1; done; echo survived; exit 3';
			const session = manager.logIn('run', '--detach', '--', 'sh', '-c', command);
			expect(session).toMatchObject({exitCode: 0, stdout: '1\n'});
			expect(session.stderr).not.toContain('Warning');
			await isRunning('1');
			expect(unitsOf('1')).toEqual([expect.stringMatching(/^canhazgpu-job-1-[0-9a-f]{8}\.scope$/v)]);
			const [unit] = unitsOf('1');
			session.logOut();
			expect(jobOf('1')).toMatchObject({state: 'running'});
			expect(manager.canhazgpu('logs', '1').stdout).toMatch(
				new RegExp(`/user@\\d+\\.service/app\\.slice/${unit}\n`, 'v'),
			);
			expect(manager.run('touch', 'go').exitCode).toBe(0);
			expect(manager.canhazgpu('wait', '1').exitCode).toBe(3);
			expect(manager.canhazgpu('logs', '1').stdout).toContain('survived');
			await eventually(() => unitsOf('1').length === 0);
			expect(readFileSync(path.join(manager.home, '.local/state/canhazgpu/jobs/1.log'), 'utf8')).toContain('survived');
		});

		test('cancel ends the unit, and retry starts another unit', async () => {
			expect(manager.canhazgpu('retry', '1')).toMatchObject({exitCode: 0, stdout: 'Started job 1 again\n'});
			expect(manager.canhazgpu('wait', '1').exitCode).toBe(3);
			expect(manager.canhazgpu('run', '--detach', '--', 'sleep', '600').stdout).toBe('2\n');
			await isRunning('2');
			const [unit] = unitsOf('2');
			expect(manager.canhazgpu('cancel', '2')).toMatchObject({exitCode: 0, stdout: 'Cancelled job 2\n'});
			await eventually(() => unitsOf('2').length === 0);
			expect(manager.canhazgpu('retry', '2').exitCode).toBe(0);
			await isRunning('2');
			expect(unitsOf('2')).not.toEqual([unit]);
			expect(manager.canhazgpu('cancel', '2').exitCode).toBe(0);
		});

		test('systemctl --user stop ends the job like SIGTERM and releases its GPUs', async () => {
			expect(manager.canhazgpu('run', '--detach', '--gpus', '2', '--', 'sleep', '600').stdout).toBe('3\n');
			await isRunning('3');
			expect(manager.run('systemctl', '--user', 'stop', ...unitsOf('3')).exitCode).toBe(0);
			expect(manager.canhazgpu('wait', '3').exitCode).toBe(143);
			expect(jobOf('3')).toMatchObject({state: 'failed', exit_code: 143});
			expect(manager.canhazgpu('run', '--gpus', '2', '--nonblock', '--', 'true').exitCode).toBe(0);
		});

		test('if its unit is killed, a job becomes LOST and its GPU is released', async () => {
			expect(manager.canhazgpu('run', '--detach', '--', 'sleep', '600').stdout).toBe('4\n');
			await isRunning('4');
			expect(manager.run('systemctl', '--user', 'kill', '--signal=KILL', ...unitsOf('4')).exitCode).toBe(0);
			await eventually(() => jobOf('4')?.['state'] === 'lost');
			expect(jobOf('4')).toMatchObject({reason: 'its processes were killed'});
			expect(manager.canhazgpu('run', '--gpus', '2', '--nonblock', '--', 'true').exitCode).toBe(0);
		});

		test('each job of a waiting array has its own unit', async () => {
			expect(manager.canhazgpu('run', '--detach', '--array', '0-2', '--begin', '1h', '--', 'true').stdout).toBe('5\n');
			expect(['5_0', '5_1', '5_2'].map((id) => unitsOf(id).length)).toEqual([1, 1, 1]);
			expect(manager.canhazgpu('cancel', '5').exitCode).toBe(0);
			await eventually(() => unitsOf('5_0').length + unitsOf('5_1').length + unitsOf('5_2').length === 0);
		});
	});

	describe('and lingering disabled', () => {
		beforeAll(async () => manager.linger(false));

		test('a job belongs to its login session, and run --detach warns that the logout ends the job', async () => {
			const session = manager.logIn('run', '--detach', '--', 'sleep', '600');
			expect(session).toMatchObject({exitCode: 0, stdout: '8\n'});
			expect(session.stderr).toContain('Warning: the job ends when you log out');
			expect(session.stderr).toContain('loginctl enable-linger');
			await isRunning('8');
			session.logOut();
			await eventually(() => !['running', 'queued'].includes(String(jobOf('8')?.['state'])));
			expect(jobOf('8')).toMatchObject({state: 'failed', exit_code: 143});
		});
	});
});
