/** `status --json --follow` prints one line per change until its reader has gone. */
import {afterAll, beforeAll, expect, test} from 'vitest';
import {slowTest} from '../../_helpers/slow.js';
import {eventually} from '../../_helpers/eventually.js';
import {createEmbeddedBox, starter, starterText, type Box} from '../../_helpers/program/cli.js';
import {start} from '../../_helpers/program/processes.js';

let box: Box;

beforeAll(async () => {
	box = await createEmbeddedBox(2);
});

afterAll(() => {
	box.remove();
});

type Line = {readonly gpus: ReadonlyArray<{readonly status: string}>; readonly waiting_count: number};

slowTest('status --json --follow prints each change, and ends when nobody reads its output', async () => {
	const following = start(box, 'status --json --follow');
	const lines = (): readonly Line[] =>
		following
			.stdout()
			.split('\n')
			.slice(0, -1)
			.map((line) => JSON.parse(line) as Line);
	await eventually(() => lines().length > 0);
	expect(lines()[0]).toMatchObject({gpus: [{status: 'AVAILABLE'}, {status: 'AVAILABLE'}], waiting_count: 0});
	await box.run('reserve -G 1 -d 1h');
	await eventually(() => lines().at(-1)?.gpus[1]?.status === 'IN_USE');
	following.kill('SIGTERM');
	expect(await following.ended).toMatchObject({exitCode: 143, stderr: ''});

	// The shell ends when both ends of the pipe have ended.
	const words = ['-c', '"$@" | head -1', 'sh', starter, ...starterText, 'status', '--json', '--follow'];
	const {stdout} = await start(box, words, {}, ['/bin/sh']).ended;
	expect(stdout).toMatch(/^\{.*\}\n$/v);
});

test.each([
	['status --follow', 'Error: --follow works only with --json\n'],
	['status --follow --summary', 'Error: --follow works only with --json\n'],
	['status --json --follow --all', 'Error: --follow shows only this host, so it cannot be combined with --all\n'],
	[
		'status --json --follow --remote far',
		'Error: --follow shows only this host, so it cannot be combined with --remote\n',
	],
])('%s is refused', async (words, message) => {
	const {exitCode, stdout, stderr} = await box.run(words);
	expect([exitCode, stdout, stderr.slice(0, message.length)]).toEqual([2, '', message]);
});
