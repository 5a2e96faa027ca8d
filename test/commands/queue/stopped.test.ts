/** Waiting processes that are stopped by a signal or by a debugger. */
import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {readFileSync} from 'node:fs';
import {describe, expect, onTestFinished, test} from 'vitest';
import {eventually} from '../../_helpers/eventually.js';
import {freshEmbeddedBox, freshRedisBox, holders, peek, start, type Started} from '../../_helpers/program/processes.js';
import {redisOfFile} from '../../_helpers/store/redis-of-file.js';
import {firstCase} from '../../_helpers/slow.js';

const redis = redisOfFile();

/** Attaches to a process as a debugger does, which stops its main thread until this program ends. The request is PTRACE_ATTACH of ptrace(2). */
const debuggerScript = `
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
pid = int(sys.argv[1])
if libc.ptrace(16, pid, None, None) != 0:
    sys.exit(os.strerror(ctypes.get_errno()))
os.waitpid(pid, 0)
print('stopped', flush=True)
sys.stdin.read()
`;

/** Stops the process, and returns a function that continues it. */
type Stop = (waiter: Started) => Promise<() => Promise<void>>;

/** Whether the process holds a lock for writing. Fields of /proc/locks: number, kind, mode, access, PID and more. */
const holdsLock = (pid: number): boolean =>
	readFileSync('/proc/locks', 'utf8')
		.split('\n')
		.map((line) => line.split(/\s+/v))
		.some((fields) => fields[3] === 'WRITE' && fields[4] === String(pid));

/** Stops a process outside of a transaction, because a process stopped inside one would block the embedded store for everybody. */
const bySignal: Stop = async (waiter) => {
	await eventually(() => {
		waiter.kill('SIGSTOP');
		const isOutside = !holdsLock(waiter.pid);
		if (!isOutside) {
			waiter.kill('SIGCONT');
		}

		return isOutside;
	});
	return async () => {
		waiter.kill('SIGCONT');
	};
};

const byDebugger: Stop = async ({pid}) => {
	const attached = spawn('python3', ['-c', debuggerScript, String(pid)], {stdio: ['pipe', 'pipe', 'inherit']});
	onTestFinished(() => {
		attached.kill('SIGKILL');
	});
	await once(attached.stdout, 'data');
	return async () => {
		attached.stdin.end();
		await once(attached, 'exit');
	};
};

describe.each(
	firstCase([
		['embedded', async () => freshEmbeddedBox(2)],
		['redis', async () => freshRedisBox(redis.port, 2)],
	]),
)('with the %s store', (_, create) => {
	test.each(
		firstCase([
			['a signal', bySignal],
			['a debugger', byDebugger],
		]),
	)(
		'a waiting reserve, stopped by %s, blocks no later request and then continues at its queue position',
		async (__, stop) => {
			const box = await create();
			await box.run('reserve --gpu-ids 0');
			await box.run('reserve --gpu-ids 1');
			const first = start(box, 'reserve --gpus 2 --short');
			await first.says(/position 1/v);
			await box.run('release --gpu-ids 0');
			await first.says(/got 1\/2/v);

			const goOn = await stop(first);
			const second = await box.run('reserve --gpus 1 --wait 30s --short');
			expect(second, second.stderr).toMatchObject({exitCode: 0, stdout: '0\n'});
			expect((await peek(box)).queue).toHaveLength(1);

			await goOn();
			await box.run('release');
			expect(await first.ended).toMatchObject({exitCode: 0, stdout: '0,1\n'});
			await eventually(async () => (await holders(box)) === '0:MANUAL 1:MANUAL');
		},
	);
});
