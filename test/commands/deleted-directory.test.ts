/** Commands in a working directory that has been deleted. Only its config file is missing. */
import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {existsSync, rmSync} from 'node:fs';
import path from 'node:path';
import {text} from 'node:stream/consumers';
import {expect, onTestFinished, test} from 'vitest';
import {starter, starterText, type Box} from '../_helpers/program/cli.js';
import {freshEmbeddedBox} from '../_helpers/program/processes.js';
import {isShown, startTop} from '../tui/program/_program.js';
import {slowTest} from '../_helpers/slow.js';

const goAway = 'mkdir -p gone && cd gone && rmdir ../gone && exec "$@"';

function startThere(box: Box, words: readonly string[]) {
	const child = spawn('/bin/sh', ['-c', goAway, 'sh', starter, ...starterText, ...words], {
		cwd: box.home,
		env: box.environment,
		stdio: ['ignore', 'pipe', 'pipe'],
	});
	onTestFinished(() => {
		child.kill('SIGKILL');
	});
	return child;
}

async function runThere(box: Box, words: readonly string[]) {
	const child = startThere(box, words);
	const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
	return {exitCode: child.exitCode, stdout, stderr};
}

slowTest('every command that ends by itself works in a deleted directory', async () => {
	const box = await freshEmbeddedBox(2);
	for (const [typed, exitCode] of [
		['reserve --short', 0],
		['status', 0],
		['extend --duration 1h', 0],
		['release', 0],
		['queue', 0],
		['report', 0],
		['events', 0],
		['run -- true', 0],
		['top --once', 0],
		['completion bash', 0],
		['--complete bash release -G', 0],
		['admin --gpus 2 --provider fake', 1],
		['status --config none.yaml', 2],
		['status --help', 0],
	] as const) {
		const ran = await runThere(box, typed.split(' '));
		expect({typed, exitCode: ran.exitCode}).toEqual({typed, exitCode});
		expect(ran.stderr).not.toMatch(/bug|uv_cwd/v);
	}
});

test('the dashboard and the monitor work in a deleted directory', async () => {
	const box = await freshEmbeddedBox(2);
	const web = startThere(box, ['web', '--port', '0']);
	const [firstOutput] = (await once(web.stdout, 'data')) as [Uint8Array];
	const address = /http:\/\/\S+/v.exec(new TextDecoder().decode(firstOutput))![0];
	expect(await (await fetch(new URL('/api/status', address))).json()).toHaveLength(2);
	const monitor = startTop(box, {shell: goAway});
	await monitor.waitFor(isShown(2));
	expect(existsSync(path.join(box.home, 'gone'))).toBe(false);
	monitor.write('q');
	expect(await monitor.exit).toMatchObject({exitCode: 0});
	rmSync(path.join(box.home, 'gone'), {recursive: true, force: true});
});
