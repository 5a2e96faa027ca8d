/** A program whose files are replaced while it starts, so that later modules are missing. */
import {spawnSync} from 'node:child_process';
import {cpSync, globSync, rmSync} from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import {expect, onTestFinished, test} from 'vitest';
import {createEmbeddedBox, program} from '../_helpers/program/cli.js';

test.each([
	['the modules that status imports later', /\/(?:main|rolldown)-[^\/]*$/v],
	['all modules except the entry', /\/rolldown-[^\/]*$/v],
])('if %s are missing, status reports without a stack trace that the program was replaced', async (_, left) => {
	const box = await createEmbeddedBox(2);
	onTestFinished(box.remove);
	const copy = path.join(box.home, 'dist');
	cpSync(path.dirname(program), copy, {recursive: true});
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
