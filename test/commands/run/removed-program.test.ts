/** Waiting and running processes survive an upgrade or removal of the program, and background bugs. */
import {cpSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import {pathToFileURL} from 'node:url';
import {expect, test} from 'vitest';
import {isLong, slowTest} from '../../_helpers/slow.js';
import {program, starterText, type Box} from '../../_helpers/program/cli.js';
import {eventually} from '../../_helpers/eventually.js';
import {holdEnding} from '../../_helpers/program/ending.js';
import {freshEmbeddedBox, peek, start} from '../../_helpers/program/processes.js';

/** Installs a removable copy of the program, which writes its notifications to a file. */
function installed(box: Box) {
	const directory = path.join(box.home, 'installed');
	cpSync(path.dirname(program), directory, {recursive: true});
	// The copy needs a package.json that declares ES modules.
	writeFileSync(path.join(directory, 'package.json'), '{"type": "module"}');
	const notices = path.join(box.home, 'notices');
	const sign = path.join(box.home, 'has-loaded');
	const hooks = path.join(box.home, 'hooks.mjs');
	writeFileSync(
		hooks,
		`import {readFileSync} from 'node:fs';
import {registerHooks} from 'node:module';
registerHooks({
	load(url, context, next) {
		if (!url.includes('/chunks/notify-')) {
			return next(url, context);
		}

		const tell = ';process.getBuiltinModule("node:fs").writeFileSync(' + ${JSON.stringify(JSON.stringify(sign))} + ', "");';
		return {format: 'module', source: readFileSync(new URL(url), 'utf8') + tell, shortCircuit: true};
	},
});`,
	);
	writeFileSync(
		path.join(box.home, '.canhazgpu.yaml'),
		JSON.stringify({notify: {command: ['/bin/sh', '-c', 'cat >> "$0"', notices]}}),
	);
	return {
		run: (words: readonly string[]) =>
			start(box, words, {NODE_OPTIONS: `--import=${pathToFileURL(hooks).href}`}, [
				process.execPath,
				path.join(directory, 'cli.js'),
			]),
		/** Waits until the modules are loaded, and removes the program. */
		async remove() {
			await eventually(() => existsSync(sign));
			renameSync(directory, `${directory}.gone`);
			mkdirSync(directory);
		},
		notices: () => (existsSync(notices) ? readFileSync(notices, 'utf8') : ''),
	};
}

slowTest('a waiting run whose program was removed from disk still runs its job and notifies its user', async () => {
	const box = await freshEmbeddedBox(1);
	const {run, remove, notices} = installed(box);
	await box.run('reserve');
	const waiter = run([
		'run',
		'--',
		'sh',
		'-c',
		'echo job ran; until grep -qs served notices; do sleep 0.05; done; exit 7',
	]);
	await waiter.says(/Waiting for 1 GPU/v);
	await remove();
	expect(await box.run('release')).toMatchObject({exitCode: 0});
	const ran = await waiter.ended;
	expect(ran).toMatchObject({exitCode: 7, stdout: 'job ran\n'});
	expect(ran.stderr).not.toMatch(/bug|module/iv);
	expect(notices()).toContain('"kind":"served"');
	expect((await peek(box)).gpus.map(({kind}) => kind)).toEqual(['free']);
});

slowTest('a waiting reserve --short whose program was removed from disk prints its GPU and exits with 0', async () => {
	const box = await freshEmbeddedBox(1);
	const {run, remove, notices} = installed(box);
	await box.run('reserve');
	const waiter = run(['reserve', '--duration', '4h', '--short']);
	await waiter.says(/Waiting for 1 GPU/v);
	await remove();
	await box.run('release');
	const ran = await waiter.ended;
	expect(ran).toMatchObject({exitCode: 0, stdout: '0\n'});
	expect(ran.stderr).not.toMatch(/bug|module/iv);
	await eventually(() => notices().includes('"kind":"served"'));
});

slowTest('a run whose program was removed from disk sends reminders and enforces the time limit', async () => {
	const box = await freshEmbeddedBox(2);
	const {run, remove, notices} = installed(box);
	const wrapper = run(['run', '--gpu-ids', '0', '--timeout', '15s', '--', 'sh', '-c', 'echo started; sleep 600']);
	await eventually(() => wrapper.stdout() === 'started\n');
	await remove();
	await holdEnding(box, 1);
	const ran = await wrapper.ended;
	expect(ran).toMatchObject({exitCode: 124});
	expect(ran.stderr).not.toMatch(/bug|module/iv);
	expect(notices()).toContain('"kind":"ending"');
});

/** A binary loads no module from outside, so no bug can be injected. */
const isBinary = starterText.length === 0;

/** Makes the program throw in the background when a file appears. */
function withBugs(box: Box): {readonly environment: Readonly<Record<string, string>>; readonly strike: () => void} {
	const file = path.join(box.home, 'bugs.mjs');
	const sign = path.join(box.home, 'strike');
	writeFileSync(
		file,
		`import {existsSync} from 'node:fs';
const timer = setInterval(() => {
	if (existsSync(${JSON.stringify(sign)})) {
		clearInterval(timer);
		setTimeout(() => { throw new TypeError('first of its kind'); }, 50);
		setTimeout(() => { throw new TypeError('first of its kind'); }, 100);
		Promise.reject(new TypeError('second of its kind'));
	}
}, 20);
timer.unref();`,
	);
	return {
		environment: {NODE_OPTIONS: `--import=${pathToFileURL(file).href}`},
		strike() {
			writeFileSync(sign, '');
		},
	};
}

const bugsSaid = (stderr: string) => stderr.match(/TypeError: \w+ of its kind/gv);

test.skipIf(isBinary)(
	'if background tasks have bugs, run reports each kind of bug once and exits with the exit code of its job',
	async () => {
		const box = await freshEmbeddedBox(1);
		const {environment, strike} = withBugs(box);
		const wrapper = start(
			box,
			['run', '--', 'sh', '-c', 'until test -e end; do sleep 0.05; done; echo done; exit 5'],
			environment,
		);
		await eventually(async () => {
			const [gpu] = (await peek(box)).gpus;
			return gpu?.kind === 'leased' && gpu.lease.job !== undefined;
		});
		strike();
		await wrapper.says(/second of its kind[\s\S]*first of its kind/v);
		writeFileSync(path.join(box.home, 'end'), '');
		const ran = await wrapper.ended;
		expect(ran).toMatchObject({exitCode: 5, stdout: 'done\n'});
		expect(bugsSaid(ran.stderr)).toEqual(['TypeError: second of its kind', 'TypeError: first of its kind']);
		expect((await peek(box)).gpus.map(({kind}) => kind)).toEqual(['free']);
	},
);

test.runIf(isLong && !isBinary)(
	'if background tasks have bugs, a waiting reserve reports each kind of bug once and gets its GPU',
	async () => {
		const box = await freshEmbeddedBox(1);
		const {environment, strike} = withBugs(box);
		await box.run('reserve');
		const waiter = start(box, ['reserve', '--short'], environment);
		await waiter.says(/Waiting for 1 GPU/v);
		strike();
		await waiter.says(/second of its kind[\s\S]*first of its kind/v);
		await box.run('release');
		const ran = await waiter.ended;
		expect(ran).toMatchObject({exitCode: 0, stdout: '0\n'});
		expect(bugsSaid(ran.stderr)).toEqual(['TypeError: second of its kind', 'TypeError: first of its kind']);
	},
);
