import {readFileSync} from 'node:fs';
import process from 'node:process';
import {setTimeout as sleep} from 'node:timers/promises';
import {expect, onTestFinished, test} from 'vitest';
import {createBox} from '../_helpers/program/cli.js';
import {countingTool, degreeSpan, scanShown, type CountedScan} from '../_helpers/machine/counting-tool.js';
import {eventually} from '../_helpers/eventually.js';
import {startRedis} from '../_helpers/store/redis-server.js';
import {startTop} from '../tui/program/_program.js';

const monitorCount = 10;
const watchedSeconds = 30;
const intervalSeconds = 2;

/** Processor time in seconds of a process and its reaped children, and its resident memory. */
function costOf(pid: number): {readonly cpuSeconds: number; readonly residentMiB: number} {
	const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
	// Field 3 is the first after the name, which can contain anything.
	const fields = stat
		.slice(stat.lastIndexOf(')') + 2)
		.split(' ')
		.map(Number);
	const residentKiB = /^VmRSS:\s+(?<kib>\d+)/mv.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.groups?.['kib'];
	return {
		cpuSeconds: [14, 15, 16, 17].reduce((sum, field) => sum + fields[field - 3]!, 0) / 100,
		residentMiB: Number(residentKiB) / 1024,
	};
}

const askersSince = (scans: readonly CountedScan[], sinceMs: number): ReadonlySet<number> =>
	new Set(scans.filter(({ms}) => ms >= sinceMs).map(({asker}) => asker));

test('ten monitors share one scan every two seconds, even after the scanning monitor was killed', async () => {
	const server = await startRedis();
	onTestFinished(async () => server.stop());
	const box = createBox({CANHAZGPU_REDIS_HOST: '127.0.0.1', CANHAZGPU_REDIS_PORT: String(server.port)});
	onTestFinished(box.remove);
	const {searchPath, scans} = countingTool(box);
	const environment = {PATH: searchPath};
	expect(await box.run('admin --gpus 2 --provider nvidia', environment)).toMatchObject({exitCode: 0});
	const monitors = Array.from({length: monitorCount}, () => startTop(box, {environment}));
	await Promise.all(monitors.map(async (monitor) => monitor.waitFor(/ 0 +Free .* \d+C/v)));
	// The first monitors scan for themselves until they see each other.
	await sleep(3 * intervalSeconds * 1000);

	const costs = () => monitors.map(({pid}) => costOf(pid));
	const before = costs();
	const began = Date.now();
	await sleep(watchedSeconds * 1000);
	const after = costs();
	const watched = scans().filter(({ms}) => ms >= began);
	const cpu = after.map(({cpuSeconds}, index) => (100 * (cpuSeconds - before[index]!.cpuSeconds)) / watchedSeconds);
	const memory = after.map(({residentMiB}) => residentMiB);
	const sum = (numbers: readonly number[]): number => numbers.reduce((a, b) => a + b, 0);
	console.log(
		`${monitorCount} monitors, ${watchedSeconds} s: ${watched.length} scans, CPU ${sum(cpu).toFixed(1)} % in all ` +
			`(${Math.min(...cpu).toFixed(1)} to ${Math.max(...cpu).toFixed(1)} each, with their tools), ` +
			`memory ${Math.round(sum(memory))} MiB in all (${Math.round(Math.max(...memory))} at most)`,
	);
	expect(new Set(watched.map(({asker}) => asker)).size).toBe(1);
	expect(watched.length).toBeLessThanOrEqual(watchedSeconds / intervalSeconds + 1);
	// A busy machine may be late, but not by half.
	expect(watched.length).toBeGreaterThan(watchedSeconds / intervalSeconds / 2);

	const living = new Set(monitors);
	for (let round = 0; round < 4; round++) {
		const scanner = scans().at(-1)!.asker;
		const killed = [...living].find(({pid}) => pid === scanner)!;
		living.delete(killed);
		process.kill(scanner, 'SIGKILL');
		const killedAt = Date.now();
		await eventually(() => askersSince(scans(), killedAt).size > 0);
		console.log(`the next scan came ${scans().at(-1)!.ms - killedAt} ms after the kill`);
		await sleep(3 * intervalSeconds * 1000);
		const next = scans().filter(({ms}) => ms >= killedAt);
		expect(new Set(next.map(({asker}) => asker)).size).toBe(1);
		// All monitors show the readings of the new scanner.
		await Promise.all(
			[...living].map(async (monitor) =>
				monitor.waitFor((screen) => {
					const shown = scanShown(screen);
					return [0, 1, 2].some((late) => shown === (scans().length - late) % degreeSpan);
				}),
			),
		);
	}
});
