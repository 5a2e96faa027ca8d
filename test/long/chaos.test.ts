/**
Many who reserve, run and wait, while processes, connections and redis-server itself are killed at random: no GPU is ever in two hands, and in
the end everything adds up.
*/
import {existsSync, readdirSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import {setTimeout as sleep} from 'node:timers/promises';
import {Redis} from 'ioredis';
import {expect, onTestFinished, test} from 'vitest';
import {openRedisStore} from '../../source/store/redis/index.js';
import {eventually} from '../_helpers/eventually.js';
import {freshRedisBox, isAlive, start, type Started} from '../_helpers/processes.js';
import {startRedis} from '../_helpers/redis-server.js';
import {checkTrail} from '../_helpers/trail.js';

const seconds = 90;
const workerCount = 8;
const gpuCount = 4;

/** Says so if somebody who lives has one of its GPUs already. */
const job = `
for gpu in $(echo "$CUDA_VISIBLE_DEVICES" | tr , " "); do
	if test -s "lock-$gpu" && kill -0 "$(cat "lock-$gpu")" 2>/dev/null; then
		echo "GPU $gpu: $$ beside $(cat "lock-$gpu")" >> twice
	fi
	echo $$ > "lock-$gpu"
done
echo $$ > "job-$$"
sleep "$1"
rm -f "job-$$"
for gpu in $(echo "$CUDA_VISIBLE_DEVICES" | tr , " "); do
	rm -f "lock-$gpu"
done
`;

const pick = <Item>(items: readonly Item[]): Item | undefined => items[Math.floor(Math.random() * items.length)];

test('chaos', {timeout: 600_000}, async () => {
	const server = await startRedis({isDurable: true});
	onTestFinished(async () => server.stop());
	const box = await freshRedisBox(server.port, gpuCount);
	const inBox = (name: string): string => path.join(box.home, name);
	const client = new Redis(server.port, {retryStrategy: () => 50, maxRetriesPerRequest: null});
	client.on('error', () => undefined);
	onTestFinished(() => {
		client.disconnect();
	});
	const untilMs = performance.now() + seconds * 1000;
	const running = new Set<Started>();
	const ends = new Map<string, number>();
	const kills = new Map<string, number>();
	const count = (counts: Map<string, number>, what: string): void => {
		counts.set(what, (counts.get(what) ?? 0) + 1);
	};

	const end = async (name: string, words: readonly string[]) => {
		const started = start(box, words);
		running.add(started);
		const ended = await started.ended;
		running.delete(started);
		count(ends, `${name} ${ended.signal ?? ended.exitCode}`);
		expect(ended.stderr, words.join(' ')).not.toMatch(/^ +at |is a bug/mv);
		return ended;
	};

	const reserveForAWhile = async (): Promise<void> => {
		const {exitCode, stdout} = await end('reserve', [
			'reserve',
			'--short',
			'--wait',
			'2s',
			'--gpus',
			pick(['1', '2'])!,
		]);
		if (exitCode !== 0) {
			return;
		}

		const ids = stdout.trim().split(',');
		for (const id of ids) {
			const lock = inBox(`lock-${id}`);
			if (existsSync(lock) && isAlive(Number(readFileSync(lock, 'utf8')))) {
				writeFileSync(inBox('twice'), `GPU ${id}: reserved beside ${readFileSync(lock, 'utf8')}`, {flag: 'a'});
			}

			writeFileSync(lock, String(process.pid));
		}

		await sleep(Math.random() * 1000);
		for (const id of ids) {
			rmSync(inBox(`lock-${id}`), {force: true});
		}

		await end('release', ['release', '--gpu-ids', ids.join(',')]);
	};

	const work = async (): Promise<void> => {
		while (performance.now() < untilMs) {
			if (Math.random() < 0.3) {
				await reserveForAWhile();
			} else {
				const gpus = pick(['1', '1', '2', '3'])!;
				await end('run', [
					'run',
					'--wait',
					'20s',
					'--gpus',
					gpus,
					'--',
					'sh',
					'-c',
					job,
					'job',
					(Math.random() * 1.5).toFixed(2),
				]);
			}
		}
	};

	const signal = (name: NodeJS.Signals): void => {
		const chosen = pick([...running]);
		if (chosen !== undefined && isAlive(chosen.pid)) {
			chosen.kill(name);
		}
	};

	const killJob = (): void => {
		const name = pick(readdirSync(box.home).filter((file) => file.startsWith('job-')));
		if (name === undefined) {
			return;
		}

		rmSync(inBox(name), {force: true});
		try {
			process.kill(Number(name.slice(4)), 'SIGKILL');
		} catch {}
	};

	const disturbances: Readonly<Record<string, () => Promise<unknown> | void>> = {
		'kill a process'() {
			signal('SIGKILL');
		},
		'kill a job': killJob,
		'hang up'() {
			signal('SIGHUP');
		},
		async 'stop a while'() {
			const stopped = pick([...running]);
			stopped?.kill('SIGSTOP');
			await sleep(700);
			stopped?.kill('SIGCONT');
		},
		'script flush': async () => client.script('FLUSH'),
		'client kill': async () => client.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes'),
		'kill redis': async () => server.restart(),
	};

	const disturb = async (): Promise<void> => {
		while (performance.now() < untilMs) {
			await sleep(Math.random() * 600);
			const name = pick(Object.keys(disturbances))!;
			count(kills, name);
			await disturbances[name]!();
		}
	};

	await Promise.all([disturb(), ...Array.from({length: workerCount}, async () => work())]);
	console.log(JSON.stringify({ends: Object.fromEntries(ends), kills: Object.fromEntries(kills)}));
	const twice = existsSync(inBox('twice')) ? readFileSync(inBox('twice'), 'utf8') : '';
	expect(twice).toBe('');

	// What killed wrappers left behind ends by itself, and what killed reservations left behind is released.
	await eventually(() =>
		readdirSync(box.home).every((file) => !file.startsWith('job-') || !isAlive(Number(file.slice(4)))),
	);
	expect(await box.run('release')).toMatchObject({exitCode: 0});
	expect(await box.run('status')).toMatchObject({exitCode: 0});
	const store = await openRedisStore({host: server.host, port: server.port, db: 0, patient: false});
	const snapshot = await store.read();
	expect(snapshot.gpus.map(({kind}) => kind)).toEqual(Array.from({length: gpuCount}, () => 'free'));
	expect(snapshot.queue).toEqual([]);
	await checkTrail({store}, snapshot, {isCrowd: true});
	await store.close();
	expect(ends.get('run 0')).toBeGreaterThan(10);
});
