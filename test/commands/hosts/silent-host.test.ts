/**
Hosts whose ssh connects and then stays silent, with a fake ssh. `test/long/hosts/dead-connection.test.ts` uses real
connections.
*/
import {chmodSync, mkdirSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import {filterMarker} from '../../../source/host/tool/answering-host.js';
import {answerMarker} from '../../../source/host/tool/remote-command.js';
import {firstCase, isLong} from '../../_helpers/slow.js';
import {openTerminal} from '../../_helpers/machine/terminal.js';
import {createEmbeddedBox, starter, starterText, type Box} from '../../_helpers/program/cli.js';
import {start} from '../../_helpers/program/processes.js';

let here: Box;
let environment: Record<string, string>;

beforeAll(async () => {
	here = await createEmbeddedBox(1);
	const directory = path.join(here.home, 'silent');
	mkdirSync(directory);
	const file = path.join(directory, 'ssh');
	writeFileSync(file, '#!/bin/sh\nexec sleep 600\n');
	chmodSync(file, 0o755);
	environment = {PATH: `${directory}:${here.environment['PATH']!}`};
});

afterAll(() => {
	here.remove();
});

const waiting = 'canhazgpu: waiting for quiet to answer\n';
const gaveUp = (seconds: number): string =>
	`${waiting}Error: quiet: no answer within ${seconds} s\nTo see the state of that host: canhazgpu status --remote quiet\n`;

test.concurrent.each(
	firstCase([
		['reserve --on quiet --nonblock', 10],
		['run --on quiet --nonblock -- true', 10],
		...(isLong
			? ([
					['reserve --on quiet', 30],
					['release --on quiet', 30],
					['extend --on quiet -d 1h', 30],
					['queue --on quiet', 30],
					['run --on quiet -- true', 30],
				] as const)
			: []),
	]),
)('%s prints which host it waits for and gives up after %i s', async (words, seconds) => {
	const beganMs = performance.now();
	const {exitCode, stdout, stderr} = await here.run(words, environment);
	expect([exitCode, stdout, stderr]).toEqual([255, '', gaveUp(seconds)]);
	expect((performance.now() - beganMs) / 1000).toBeGreaterThan(seconds - 1);
});

test.concurrent('release --on prints which host it waits for', async () => {
	const release = start(here, 'release --on quiet', environment);
	await release.says(/canhazgpu: waiting for quiet to answer\n/v);
	release.kill('SIGINT');
	expect((await release.ended).stderr).toBe(waiting);
});

describe('on a terminal, while the other host is silent,', () => {
	const open = (words: string) =>
		openTerminal(starter, [...starterText, ...words.split(' ')], {
			columns: 100,
			rows: 24,
			cwd: here.home,
			environment: {...here.environment, ...environment},
		});

	test.runIf(isLong).concurrent('reserve --on --nonblock gives up after 10 s', async () => {
		const [reserve, release] = [open('reserve --on quiet --nonblock'), open('release --on quiet')];
		expect(await reserve.exit).toMatchObject({exitCode: 255});
		expect(reserve.screen().join('\n')).toContain('Error: quiet: no answer within 10 s');
		await release.waitFor('canhazgpu: waiting for quiet to answer');
		release.write('\u{3}');
		await release.exit;
		await Promise.all([reserve.close(), release.close()]);
	});

	test.runIf(isLong).concurrent.each([
		['reserve --on quiet --nonblock', 13_000],
		['release --on quiet', 35_000],
	])('the password prompt of ssh for %s is not interrupted by a message or a time limit', async (words, silentMs) => {
		const terminal = openTerminal(
			'sh',
			[
				'-c',
				String.raw`mkdir -p asking && printf '#!/bin/sh\nstty -echo; printf "password: "; read -r word; stty echo; exit 9\n' >asking/ssh && chmod +x asking/ssh && PATH=$PWD/asking:$PATH exec "$@"`,
				'sh',
				starter,
				...starterText,
				...words.split(' '),
			],
			{columns: 100, rows: 24, cwd: here.home, environment: here.environment},
		);
		await terminal.waitFor('password:');
		await expect(terminal.waitFor(/waiting for|Error/v, silentMs)).rejects.toThrow('did not show');
		terminal.write('secret\r');
		expect(await terminal.exit).toMatchObject({exitCode: 9});
		await terminal.close();
	});
});

describe('filterMarker', () => {
	test.each([
		['alone', [answerMarker], ''],
		['byte by byte between other text', [...`warning\n${answerMarker}canhazgpu: rest`], 'warning\ncanhazgpu: rest'],
		['after text that starts like the marker', ['canhazgpu: the ', answerMarker], 'canhazgpu: the '],
		['before a second marker, which belongs to the job', [answerMarker, answerMarker], answerMarker],
	])('removes the answer marker of the other host if the marker arrives %s', (_, parts, expected) => {
		let written = '';
		let answers = 0;
		const pass = filterMarker(
			(text) => {
				written += text;
			},
			() => {
				answers++;
			},
		);
		for (const part of parts) {
			pass(part);
		}

		expect([written, answers]).toEqual([expected, 1]);
	});
});
