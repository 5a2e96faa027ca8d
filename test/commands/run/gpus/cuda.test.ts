/** `run --cuda` starts the job with the requested CUDA version, or reserves nothing. */
import {execFileSync} from 'node:child_process';
import {Buffer} from 'node:buffer';
import {chmodSync, mkdirSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {afterAll, beforeAll, expect, test} from 'vitest';
import {createEmbeddedBox, starter, starterText, type Box} from '../../../_helpers/program/cli.js';
import {peek} from '../../../_helpers/program/processes.js';
import {stubTool} from '../../../_helpers/machine/stub-tool.js';

let box: Box;
let root: string;
let environment: Readonly<Record<string, string>>;

beforeAll(async () => {
	box = await createEmbeddedBox(1);
	root = path.join(box.home, 'toolkit');
	mkdirSync(path.join(root, 'bin'), {recursive: true});
	mkdirSync(path.join(root, 'lib64'));
	writeFileSync(path.join(root, 'version.json'), '{"cuda":{"version":"987.4.1"}}');
	writeFileSync(path.join(root, 'bin', 'nvcc'), '#!/bin/sh\necho "nvcc of $CUDA_HOME, $LD_LIBRARY_PATH"\n');
	chmodSync(path.join(root, 'bin', 'nvcc'), 0o755);
	const {searchPath} = stubTool(
		box,
		'nvidia-smi',
		String.raw`[ "$*" = '-q -d COMPUTE' ] && printf '\n====NVSMI LOG====\n\nDriver Version                            : 550.54.15\nCUDA Version                              : 12.4\n'`,
	);
	environment = {PATH: searchPath, CUDA_HOME: root, LD_LIBRARY_PATH: ''};
});

afterAll(() => {
	box.remove();
});

test('run --cuda starts the command with the requested CUDA version and warns about an old driver', async () => {
	expect(await box.run('run --cuda 987.4 --quiet -- nvcc', environment)).toEqual({
		exitCode: 0,
		stdout: `nvcc of ${root}, ${root}/lib64\n`,
		stderr: `Warning: the driver supports CUDA up to 12.4, so programs built for CUDA 987.4.1 (${root}) may not start.\n`,
	});
});

test('run --cuda refuses a missing version before queueing and lists the installed versions', async () => {
	await box.run('reserve --gpus 1 --duration 1h');
	const before = await peek(box);
	const {exitCode, stdout, stderr} = await box.run('run --cuda 99 -- nvcc', environment);
	expect({exitCode, stdout}).toEqual({exitCode: 2, stdout: ''});
	expect(stderr).toMatch(
		/^Error: CUDA 99 is not installed here\nFound: .*987\.4\.1 in \S+\. The driver supports CUDA up to 12\.4\.\n$/v,
	);
	const after = await peek(box);
	expect([after.queue, after.revision.count]).toEqual([[], before.revision.count]);
	await box.run('release');
});

test('run --cuda refuses an invalid version', async () => {
	expect(await box.run('run --cuda latest -- nvcc', environment)).toMatchObject({
		exitCode: 2,
		stderr: expect.stringContaining(
			'--cuda must be a CUDA version such as "12.4" (in YAML, with quotes), not "latest"',
		) as string,
	});
});

test('run --cuda passes invalid UTF-8 in PATH to the job unchanged', () => {
	const script = String.raw`export PATH="$PATH:/x$(printf '\377')"; exec "$@"`;
	const words = [...starterText, 'run', '--cuda', '987', '--nonblock', '--quiet', '--', 'printenv', 'PATH'];
	const printed = execFileSync('/bin/sh', ['-c', script, 'sh', starter, ...words], {
		env: {...box.environment, ...environment},
		stdio: ['ignore', 'pipe', 'ignore'],
		cwd: box.home,
	});
	expect(printed.toString('latin1')).toMatch(new RegExp(`^${root}/bin:.*:/x\u{FF}\n$`, 'v'));
	expect(printed.indexOf(Buffer.of(0xff))).toBeGreaterThan(0);
});
