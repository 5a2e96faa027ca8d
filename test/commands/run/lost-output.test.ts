/** Output that cannot be written. A full disk is reported, but not a reader that has gone. */
import {spawnSync} from 'node:child_process';
import {readFileSync} from 'node:fs';
import path from 'node:path';
import {afterAll, afterEach, beforeAll, expect, test} from 'vitest';
import {createEmbeddedBox, starter, starterText, type Box} from '../../_helpers/program/cli.js';
import {shellQuote} from '../../../source/format/text/shell.js';
import {firstCase, slowTest} from '../../_helpers/slow.js';

let box: Box;
const program = [starter, ...starterText].map((word) => shellQuote(word)).join(' ');

const shell = (line: string) => {
	const {status, stderr} = spawnSync('bash', ['-c', `chg() { ${program} "$@"; }; ${line}`], {
		env: box.environment,
		encoding: 'utf8',
	});
	return {status, stderr};
};

/** Runs a command whose stderr is lost. */
const withoutErrors = (line: string) => {
	const {status, stdout} = spawnSync('bash', ['-c', `chg() { ${program} "$@"; }; ${line} 2> /dev/full`], {
		cwd: box.home,
		env: box.environment,
		encoding: 'utf8',
	});
	return {status, stdout};
};

beforeAll(async () => {
	box = await createEmbeddedBox(2);
});

afterEach(() => {
	shell('chg release > /dev/null');
});

afterAll(() => {
	box.remove();
});

test('status and --help report a full disk and exit with 1', () => {
	const failure = {status: 1, stderr: 'Error: The output could not be written: the disk is full\n'};
	expect(shell('chg status --json > /dev/full')).toEqual(failure);
	expect(shell('chg --help > /dev/full')).toEqual(failure);
	// The version is printed without the code that reports lost output, which is then loaded to do so.
	expect(shell('chg --version > /dev/full')).toEqual(failure);
});

test.each(
	firstCase([
		['a full disk', 'chg reserve --short > /dev/full', 'the disk is full'],
		['a full disk', 'chg reserve > /dev/full', 'the disk is full'],
		['a pipe without a reader', 'set -o pipefail; chg reserve --json | true', 'the reading program has gone'],
	]),
)('reserve names the reserved GPU on stderr if the output is lost because of %s: %s', (_, line, why) => {
	const {status, stderr} = shell(line);
	expect(status).toBe(1);
	const [problem, done] = stderr.split('\n', 2);
	expect(problem).toBe(`Error: The output could not be written: ${why}`);
	expect(done).toMatch(
		/^Reserved 1 GPU\(s\): \[\d\] for 8h 0m 0s anyway\. To release it: canhazgpu release --lease [\w\-]+$/v,
	);
	const release = done!.split('canhazgpu ', 2)[1]!;
	expect(shell(`chg ${release} | grep --quiet 'Released 1 GPU'`).status).toBe(0);
});

test('reserve exits with 0 and without a message if the reader of its output stops after the first line', () => {
	expect(shell('set -o pipefail; chg reserve | head -1 > /dev/null')).toEqual({status: 0, stderr: ''});
});

slowTest('commands keep their exit code if stderr cannot be written', () => {
	expect(withoutErrors('chg status')).toEqual({status: 0, stdout: expect.stringContaining('AVAILABLE') as unknown});
	expect(withoutErrors('chg status --nope')).toEqual({status: 2, stdout: ''});
	expect(withoutErrors('echo "nope: 1" > nope.yaml; chg queue --config nope.yaml')).toEqual({
		status: 0,
		stdout: 'Nobody waits\n',
	});
});

slowTest('the documented redirection of run --json keeps the output and exit code of the job', () => {
	const topic = readFileSync(new URL('../../../source/help/json.md', import.meta.url), 'utf8');
	const line = /^canhazgpu (?<words>run --json -- )python train\.py(?<redirection>.*)$/mv.exec(topic)!.groups!;
	const job = 'sh -c "sleep 0.3; echo later >&2; exit 3"';
	const {status, stderr} = shell(
		`cd ${box.home}; chg ${line['words']!}${job}${line['redirection']!}; code=$?; wait $!; exit $code`,
	);
	expect([status, stderr.split('\n').at(-2)]).toEqual([3, 'later']);
	expect(JSON.parse(readFileSync(path.join(box.home, 'granted.json'), 'utf8'))).toMatchObject({type: 'RUN'});
});

test('events and --help exit with 0 and without a message if the pipe has no reader', () => {
	const fine = {status: 0, stderr: ''};
	expect(shell('set -o pipefail; chg events --json | true')).toEqual(fine);
	expect(shell('set -o pipefail; chg --help | head -1 > /dev/null')).toEqual(fine);
});

slowTest('logs reports a full disk and exits with 1, also with --follow', async () => {
	expect(shell('chg run --detach -- echo hello > /dev/null && chg wait 1 > /dev/null')).toEqual({
		status: 0,
		stderr: '',
	});
	const failure = {status: 1, stderr: 'Error: The output could not be written: the disk is full\n'};
	expect(shell('chg logs 1 > /dev/full')).toEqual(failure);
	expect(shell('chg logs --follow 1 > /dev/full')).toEqual(failure);
	expect(shell('set -o pipefail; chg logs 1 | true')).toEqual({status: 0, stderr: ''});
});

test('status --json --follow reports a full disk and exits with 1', () => {
	expect(shell('chg status --json --follow > /dev/full')).toEqual({
		status: 1,
		stderr: 'Error: The output could not be written: the disk is full\n',
	});
});

slowTest('events --follow and a doctor that finds an error report a full disk once', () => {
	const failure = {status: 1, stderr: 'Error: The output could not be written: the disk is full\n'};
	expect(shell('chg events --follow > /dev/full')).toEqual(failure);
	expect(shell('CANHAZGPU_PROVIDER=nvidia chg doctor > /dev/full')).toEqual(failure);
});
