/** A bug prints its stack for a report, sanitized for the terminal. */
import {expect, test} from 'vitest';
import {eventually} from '../../_helpers/eventually.js';
import {freshEmbeddedBox} from '../../_helpers/program/processes.js';
import {ask, startWeb} from '../../web/_server.js';

/** A message that quotes a title sequence, a cleared screen and a C1 control. */
const hostile = String.raw`Error('quoted \u001b]0;title\u0007\u001b[2J\u009b31m\nsecond line')`;

/** Returns variables that run JavaScript in the program first. */
const preloaded = (code: string) => ({NODE_OPTIONS: `--import="data:text/javascript,${encodeURIComponent(code)}"`});

const harmless = /^[\n\u{20}-\u{7E}]*$/v;

test('a command with a bug prints its stack without terminal control sequences', async () => {
	const box = await freshEmbeddedBox(1);
	const {exitCode, stderr} = await box.run(
		'--help',
		preloaded(`process.stdout.write = () => { throw new ${hostile}; };`),
	);
	expect(exitCode).toBe(1);
	expect(stderr).toMatch(/^Error: this is a bug in canhazgpu\nError: quoted ?\nsecond line\n {4}at \S/v);
	expect(stderr).toMatch(harmless);
});

test('web prints the stack of a failed request without terminal control sequences', async () => {
	const box = await freshEmbeddedBox(1);
	const web = await startWeb(
		box,
		[],
		preloaded(`const make = JSON.stringify;
			JSON.stringify = (...values) => {
				if (values[0]?.[0]?.gpu_id === 0) throw new ${hostile};
				return make(...values);
			};`),
	);
	expect(await ask(web.port, '/api/status')).toMatchObject({status: 500});
	await eventually(() => web.stderr().includes('second line\n'));
	expect(web.stderr()).toMatch(/A request failed because of a bug: Error: quoted ?\nsecond line\n {4}at \S/v);
	expect(web.stderr()).toMatch(harmless);
	await web.end('SIGTERM');
});
