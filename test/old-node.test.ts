/** An old Node prints one line with the required version. Runs only on machines that have one. */
import {spawnSync} from 'node:child_process';
import path from 'node:path';
import process from 'node:process';
import {expect, test} from 'vitest';
import {program} from './_helpers/program/cli.js';

const isTooOld = (node: string): boolean => {
	const {stdout, status} = spawnSync(node, ['--version'], {encoding: 'utf8'});
	const [major = 0, minor = 0] = (stdout ?? '').slice(1).split('.').map(Number);
	// Versions before 20 cannot parse the program.
	return status === 0 && major >= 20 && (major < 22 || (major === 22 && minor < 15));
};

const oldNode = [...(process.env['PATH'] ?? '').split(path.delimiter), '/usr/bin', '/usr/local/bin']
	.map((directory) => path.join(directory, 'node'))
	.find((node) => isTooOld(node));

test.skipIf(oldNode === undefined)(
	`an old Node.js prints the required version without a stack trace (tested with: ${oldNode ?? 'no old Node.js'})`,
	() => {
		const {status, stdout, stderr} = spawnSync(oldNode!, [program, 'status'], {encoding: 'utf8'});
		expect({status, stdout}).toEqual({status: 1, stdout: ''});
		expect(stderr).toMatch(
			/^Error: canhazgpu needs Node\.js 22\.15 or newer, but this is \S+\nInstall a newer Node\.js \(https:\/\/nodejs\.org\), or use .* npm run binary builds it\.\n$/v,
		);
	},
);
