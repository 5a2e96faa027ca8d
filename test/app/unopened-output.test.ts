import {execFileSync, spawn} from 'node:child_process';
import process from 'node:process';
import {text} from 'node:stream/consumers';
import {fileURLToPath} from 'node:url';
import {expect, test} from 'vitest';
import {leavesOutput} from '../../source/app/start-up/unopened-output.js';

const file = fileURLToPath(new URL('../../source/app/start-up/unopened-output.ts', import.meta.url));
/** Returns arguments for Node that write this many characters to stderr. Node strips the types. */
const writing = (count: number): readonly string[] => [
	'--input-type=module',
	'--eval',
	`import {writeError} from ${JSON.stringify(file)}; writeError('x'.repeat(${count})); process.stdout.write('done');`,
];

test('leavesOutput is true only for the command `run`', () => {
	expect(leavesOutput(['run', '--', 'true'])).toBe(true);
	expect(leavesOutput(['status'])).toBe(false);
	expect(leavesOutput([])).toBe(false);
});

test('writeError writes all of its text to a full non-blocking pipe', async () => {
	// A previous process has made the pipe non-blocking and filled it.
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

test('writeError drops its text silently if stderr is full or closed', () => {
	const said = execFileSync('sh', ['-c', '"$@" 2>/dev/full; exec 2>&-; "$@"', 'sh', process.execPath, ...writing(10)], {
		encoding: 'utf8',
	});
	expect(said).toBe('donedone');
});
