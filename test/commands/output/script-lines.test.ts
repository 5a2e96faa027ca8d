/** The lines that scripts match, because the Go program prints them, too. A change of wording here breaks those scripts. */
import {afterAll, beforeAll, expect, test} from 'vitest';
import {createEmbeddedBox, type Box} from '../../_helpers/program/cli.js';

let box: Box;

beforeAll(async () => {
	box = await createEmbeddedBox(4);
});

afterAll(() => {
	box.remove();
});

// In this order: each line depends on the commands before it.
test.each<[typed: string, stream: 'stdout' | 'stderr', line: string]>([
	['release', 'stdout', 'No manually reserved GPUs found for current user'],
	['reserve --gpus 2 --duration 1h30m', 'stdout', 'Reserved 2 GPU(s): [0 1] for 1h 30m 0s'],
	['reserve --gpu-ids 3 --duration 8h --short', 'stdout', '3'],
	['reserve --gpus 2 --nonblock', 'stderr', 'Error: Not enough GPUs available. Requested: 2, Available: 1'],
	['release --gpu-ids 2', 'stdout', 'No reservations found for current user on GPU(s): [2]'],
	['release --gpu-ids 1', 'stdout', 'Released 1 GPU(s): [1]'],
	['release', 'stdout', 'Released 2 GPU(s): [0 3]'],
])('the first line of %s on %s is "%s"', async (typed, stream, line) => {
	expect((await box.run(typed))[stream].split('\n', 1)[0]).toBe(line);
});

test('run prints "Reserved 1 GPU(s): [0] for command execution" on stderr', async () => {
	const {stderr} = await box.run('run -- true', {CANHAZGPU_RUN_QUIET: 'false'});
	expect(stderr.split('\n', 1)[0]).toBe('Reserved 1 GPU(s): [0] for command execution');
});

test('status --json has the same values of "status" and "type" as the Go canhazgpu', async () => {
	await box.run('reserve --gpu-ids 2');
	const rows = JSON.parse((await box.run('status --json')).stdout) as ReadonlyArray<Record<string, unknown>>;
	expect(rows.map(({status, type}) => [status, type])).toEqual([
		['AVAILABLE', undefined],
		['AVAILABLE', undefined],
		['IN_USE', 'MANUAL'],
		['AVAILABLE', undefined],
	]);
});
