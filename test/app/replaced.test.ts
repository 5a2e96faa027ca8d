/** A program whose files are replaced while it starts or waits, so that later modules are missing. */
import {spawnSync} from 'node:child_process';
import {cpSync, globSync, rmSync} from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import {expect, onTestFinished, test} from 'vitest';
import {createEmbeddedBox, program, type Box} from '../_helpers/program/cli.js';
import {start} from '../_helpers/program/processes.js';

function copyProgram(box: Box): string {
	const copy = path.join(box.home, 'dist');
	cpSync(path.dirname(program), copy, {recursive: true});
	return copy;
}

test.each([
	['the modules that status imports later', /\/(?:main|rolldown)-[^\/]*$/v],
	['all modules except the entry', /\/rolldown-[^\/]*$/v],
])('if %s are missing, status reports without a stack trace that the program was replaced', async (_, left) => {
	const box = await createEmbeddedBox(2);
	onTestFinished(box.remove);
	const copy = copyProgram(box);
	for (const late of globSync(`${copy}/chunks/*.js`).filter((file) => !left.test(file))) {
		rmSync(late);
	}

	const {status, stdout, stderr} = spawnSync(process.execPath, [path.join(copy, 'cli.js'), 'status'], {
		env: {...box.environment},
		encoding: 'utf8',
	});
	expect({status, stdout, stderr}).toEqual({
		status: 1,
		stdout: '',
		stderr: 'Error: The program was replaced or removed while this command was running\nRun it again.\n',
	});
});

const later = ['--begin', '4s', '--', 'sh', '-c', 'echo ran; exit 7'];

test('run --begin runs its command if the program is removed while it waits', async () => {
	const box = await createEmbeddedBox(2);
	onTestFinished(box.remove);
	const copy = copyProgram(box);
	const run = start(box, ['run', ...later], {}, [process.execPath, path.join(copy, 'cli.js')]);
	await run.says(/starts at/v);
	rmSync(copy, {recursive: true});
	expect(await run.ended).toMatchObject({exitCode: 7, stdout: 'ran\n'});
});

test('run --detach --begin runs its command if the program is removed while the job waits', async () => {
	const box = await createEmbeddedBox(2);
	onTestFinished(box.remove);
	const copy = copyProgram(box);
	const run = start(box, ['run', '--detach', ...later], {}, [process.execPath, path.join(copy, 'cli.js')]);
	expect(await run.ended).toMatchObject({exitCode: 0});
	rmSync(copy, {recursive: true});
	expect(await box.run('wait 1')).toMatchObject({exitCode: 7});
	expect(await box.run('logs 1')).toMatchObject({stdout: 'ran\n'});
});
