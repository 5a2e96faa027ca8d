/** Wrong input for each command, and failures of the store: a clear error, the right exit code, and nothing half done. */
import process from 'node:process';
import {describe, expect, onTestFinished, test} from 'vitest';
import {createBox, createEmbeddedBox, createRedisBox, withoutRedis, type Box} from '../_helpers/program/cli.js';
import {peek} from '../_helpers/program/processes.js';
import {startRedis} from '../_helpers/store/redis-server.js';

const long = 'x'.repeat(600);

/** GPU 3 of four is reserved, and the queue is empty. */
const wrong: Readonly<Record<string, ReadonlyArray<readonly string[]>>> = {
	top: [
		['--nosuch'],
		['--interval'],
		['--interval', 'x'],
		['--interval', '-1s'],
		['stray'],
		['--theme', 'nosuch'],
		['--sort', 'nosuch'],
		['--columns', 'x'],
		['--once', '--interval'],
		['--demo', '--remote', 'h'],
	],
	status: [
		['--nosuch'],
		['--remote'],
		['--remote', '-oX=y'],
		['stray'],
		['--json=yes'],
		['--memory-threshold', 'x'],
		['--memory-threshold', '-1'],
		['--redis-port', '99999'],
		['--redis-db', 'x'],
		['--config', '/nonexistent.yaml'],
	],
	run: [
		[],
		['true'],
		['--nosuch', '--', 'true'],
		['--gpus'],
		['--gpus', 'x', '--', 'true'],
		['--gpus', '3', '--gpu-ids', '1,2', '--', 'true'],
		['--gpu-ids', '99', '--', 'true'],
		['--timeout', '5', '--', 'true'],
		['--nonblock', '--gpus', '4', '--', 'true'],
		['--share', 'x', '--', 'true'],
		['--min-memory', '-5', '--', 'true'],
		['--mig', '99g.9gb', '--nonblock', '--', 'true'],
		['--numa', 'weird', '--', 'true'],
		['--cuda', '99.9', '--', 'true'],
		['--', '/nonexistent/program'],
		['--', ''],
	],
	reserve: [
		['--nosuch'],
		['--gpus', 'x'],
		['--duration'],
		['--gpus', '2', '--gpu-ids', '1'],
		['--gpu-ids', '99'],
		['--gpu-ids', '3', '--nonblock'],
		['stray'],
		['--json', '--short'],
		['--pid', '0'],
		['--pid', '99999999'],
		['--pid', '1', '--gpus', '2'],
		['--user', 'a\nb'],
		['--note', long],
		['--wait', '5'],
		['--share', '999G', '--nonblock'],
		['--min-memory', '9T', '--nonblock'],
		['--strategy', 'nosuch'],
	],
	extend: [
		[],
		['--nosuch'],
		['--duration'],
		['--duration', 'x'],
		['--duration', '1h', '--until', '18:00'],
		['--gpu-ids', '99', '--duration', '1h'],
		['--gpu-ids', '0', '--duration', '1h'],
		['stray'],
		['--until', '2020-01-01'],
		['--until', '2027-02-31'],
		['--user', 'nobodyhere', '--duration', '1h'],
	],
	release: [
		['--nosuch'],
		['--gpu-ids'],
		['--gpu-ids', 'x'],
		['--gpu-ids', '-1'],
		['--gpu-ids', '3,3'],
		['--gpu-ids', '99'],
		['--gpu-ids', '3,99'],
		['stray'],
		['--json=yes'],
		['--user'],
	],
	queue: [
		['--nosuch'],
		['--leave'],
		['--leave', ''],
		['--leave', 'nosuch'],
		['--leave', 'a\u{1B}[31m'],
		['--why', 'nosuch'],
		['--all', '--leave', 'x'],
		['--remote', '-oX'],
		['--json=yes'],
		['stray'],
	],
	// `notify --test` fails if no target is configured.
	notify: [
		['--nosuch'],
		['stray'],
		[''],
		['--test'],
		['--test=x'],
		['--json=yes'],
		['--test', '--json'],
		['--test', 'slack'],
		['--config', '/nonexistent'],
		['--events', 'expiry'],
	],
	who: [['--nosuch'], [''], ['x'], ['-1'], ['99'], ['0,99'], ['3', '99'], ['1', 'x'], ['--gpu', '1'], ['--json=yes']],
	report: [
		['--nosuch'],
		['--days'],
		['--days', 'x'],
		['--days', '0'],
		['--days', '-1'],
		['--by', 'nosuch'],
		['--format', 'xml'],
		['--json', '--format', 'csv'],
		['--since', 'x'],
		['--since', '2027-02-31'],
		['--days', '7', '--since', '1d'],
		['stray'],
	],
	web: [
		['--nosuch'],
		['--port'],
		['--port', 'x'],
		['--port', '99999'],
		['--host', ''],
		['--host', '999.1.1.1', '--port', '0'],
		['--host', '192.0.2.1', '--port', '0'],
		['--mine', '--host', '0.0.0.0'],
		['--commands', 'x'],
		['stray'],
	],
	events: [
		['--nosuch'],
		['-n'],
		['-n', 'x'],
		['-n', '-1'],
		['--since', 'x'],
		['--gpu', '99'],
		['--kind', 'nosuch'],
		['--user'],
		['--json=yes'],
		['stray'],
	],
	doctor: [
		['--nosuch'],
		['--json=yes'],
		['--config'],
		['--config', '/nonexistent'],
		['--redis-port', '0'],
		['--redis-port', 'x'],
		['--store', 'x'],
		['--memory-threshold', 'x'],
		['--fix', 'x'],
		['stray'],
	],
	completion: [
		['--nosuch'],
		[''],
		['1'],
		['tcsh'],
		['BASH'],
		['bash', 'zsh'],
		['bash', '--x'],
		['--json'],
		['-x'],
		['--shell', 'bash'],
	],
	admin: [
		['--nosuch'],
		['--gpus'],
		['--gpus', 'x'],
		['--gpus', '0'],
		['--gpus', '4', '--provider', 'fake'],
		['--provider', 'nobody'],
		['--drain', 'x'],
		['--drain', '99'],
		['--drain', '1', '--undrain', '1'],
		['--drain', '1', '--gpus', '2'],
		['--force', '--drain', '1'],
		['--reason', 'x'],
		['--set', 'x'],
		['--set', 'nosuch=1'],
		['--unset', 'nosuch'],
		['stray'],
	],
};

async function expectRefusal(box: Box, words: readonly string[], exitCodes: readonly number[]): Promise<void> {
	const {exitCode, stdout, stderr} = await box.run(words);
	const typed = words.map((word) => word.slice(0, 30)).join(' ');
	expect(exitCodes, `${typed}: ${stderr}`).toContain(exitCode);
	expect([typed, stdout]).toEqual([typed, '']);
	expect(stderr, typed).toMatch(/^(?:Error|canhazgpu): /mv);
	// No stack trace, no terminal control characters, and only a part of long input.
	expect(stderr, typed).not.toMatch(/^ +at |this is a bug|x{200}/mv);
	expect(stderr, typed).not.toContain('\u{1B}');
}

describe('wrong input', () => {
	test.each(Object.entries(wrong))('for %s gives an error and changes nothing', async (command, inputs) => {
		expect(inputs.length).toBeGreaterThanOrEqual(10);
		const box = await createEmbeddedBox(4);
		onTestFinished(box.remove);
		await box.run('reserve --gpu-ids 3 --duration 8h');
		const before = await peek(box);
		for (const words of inputs) {
			await expectRefusal(box, [command, ...words], [1, 2, 3, 126, 127]);
		}

		const after = await peek(box);
		expect([after.gpus, after.queue]).toEqual([before.gpus, before.queue]);
	});
});

/** Valid commands, which fail only because of the store. */
const lines: readonly string[] = [
	'status',
	'run --nonblock -- true',
	'run --wait 3s -- true',
	'reserve --nonblock',
	`reserve --pid ${process.pid}`,
	'extend --duration 1h',
	'release',
	'release --gpu-ids 0',
	'queue',
	'queue --leave an-id',
	'who 0',
	'report',
	'events',
	'admin --drain 1',
	'admin --set strategy=lru',
	'top --once',
];

const onRedis = async (settings: readonly string[] = []): Promise<{readonly box: Box; readonly pid: number}> => {
	const redis = await startRedis();
	const box = await createRedisBox(redis.port, 4);
	onTestFinished(async () => {
		process.kill(redis.pid(), 'SIGCONT');
		box.remove();
		await redis.stop();
	});
	if (settings.length > 0) {
		await redis.restart({settings});
	}

	return {box, pid: redis.pid()};
};

describe('an unavailable pool', () => {
	test.each<[what: string, enter: () => Promise<Box>]>([
		[
			'no pool',
			async () => {
				const box = createBox({CANHAZGPU_STORE: 'embedded'});
				onTestFinished(box.remove);
				return box;
			},
		],
		[
			'no Redis',
			async () => {
				const box = createBox({...withoutRedis, CANHAZGPU_STORE: 'redis'});
				onTestFinished(box.remove);
				return box;
			},
		],
		['a Redis that wants a password', async () => (await onRedis(['--requirepass', 'x'])).box],
		[
			'a Redis that does not answer',
			async () => {
				const {box, pid} = await onRedis();
				process.kill(pid, 'SIGSTOP');
				return box;
			},
		],
	])('%s makes every command exit with 4 and name the problem', async (what, enter) => {
		const box = await enter();
		// The monitor creates a pool if there is none.
		for (const line of lines.filter((text) => what !== 'no pool' || !text.startsWith('top'))) {
			await expectRefusal(box, line.split(' '), [4]);
		}
	});
});
