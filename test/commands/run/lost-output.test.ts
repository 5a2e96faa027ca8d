/** Output that goes nowhere: told where somebody wanted it, silent where nobody reads any more. */
import {spawnSync} from 'node:child_process';
import {afterAll, beforeAll, expect, test} from 'vitest';
import {createEmbeddedBox, starter, starterText, type Box} from '../../_helpers/program/cli.js';
import {shellQuote} from '../../../source/format/text/shell.js';

let box: Box;
const program = [starter, ...starterText].map((word) => shellQuote(word)).join(' ');

const shell = (line: string) => {
	const {status, stderr} = spawnSync('bash', ['-c', `chg() { ${program} "$@"; }; ${line}`], {
		env: box.environment,
		encoding: 'utf8',
	});
	return {status, stderr};
};

beforeAll(async () => {
	box = await createEmbeddedBox(2);
});

afterAll(() => {
	box.remove();
});

test('a disk that is full', () => {
	const failure = {status: 1, stderr: 'Error: The output could not be written: the disk is full\n'};
	expect(shell('chg status --json > /dev/full')).toEqual(failure);
	expect(shell('chg --help > /dev/full')).toEqual(failure);
	// The GPU is reserved all the same, so that the exit code is all that a script can tell it by.
	expect(shell('chg reserve --short > /dev/full')).toEqual(failure);
});

test('a pipe that nobody reads any more', () => {
	const fine = {status: 0, stderr: ''};
	expect(shell('set -o pipefail; chg events --json | true')).toEqual(fine);
	expect(shell('set -o pipefail; chg --help | head -1 > /dev/null')).toEqual(fine);
});
