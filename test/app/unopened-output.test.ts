import {execFileSync, spawn} from 'node:child_process';
import process from 'node:process';
import {text} from 'node:stream/consumers';
import {fileURLToPath} from 'node:url';
import {expect, test} from 'vitest';
import {leavesOutput} from '../../source/app/start-up/unopened-output.js';

const file = fileURLToPath(new URL('../../source/app/start-up/unopened-output.ts', import.meta.url));
/** Writes so many characters to stderr; node takes the types away. */
const writing = (count: number): readonly string[] => [
	'--input-type=module',
	'--eval',
	`import {writeError} from ${JSON.stringify(file)}; writeError('x'.repeat(${count})); process.stdout.write('done');`,
];

test('run alone leaves stdout to its command', () => {
	expect(leavesOutput(['run', '--', 'true'])).toBe(true);
	expect(leavesOutput(['status'])).toBe(false);
	expect(leavesOutput([])).toBe(false);
});

test('a pipe that does not wait, and is full, gets everything', async () => {
	// Bytes that nobody reads yet fill the pipe, which a process before has made not wait.
	const child = spawn(
		'python3',
		[
			'-c',
			'import os, sys; os.set_blocking(2, False); os.execvp(sys.argv[1], sys.argv[1:])',
			process.execPath,
			...writing(300_000),
		],
		{stdio: ['ignore', 'pipe', 'pipe']},
	);
	await new Promise((resolve) => {
		setTimeout(resolve, 500);
	});
	const [said, written] = await Promise.all([text(child.stdout), text(child.stderr)]);
	expect(written).toHaveLength(300_000);
	expect(said).toBe('done');
});

test('what nobody reads any more is lost, and nothing else happens', () => {
	const said = execFileSync('sh', ['-c', '"$@" 2>/dev/full; exec 2>&-; "$@"', 'sh', process.execPath, ...writing(10)], {
		encoding: 'utf8',
	});
	expect(said).toBe('donedone');
});
