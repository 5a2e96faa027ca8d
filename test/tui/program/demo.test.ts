/** The demo as a new user sees it. */
import {existsSync} from 'node:fs';
import {expect, onTestFinished, test} from 'vitest';
import {createBox} from '../../_helpers/program/cli.js';
import {slowTest} from '../../_helpers/slow.js';
import {rowOf, startTop} from './_program.js';

test('top --demo shows a busy machine and creates no pool', async () => {
	const box = createBox();
	onTestFinished(box.remove);
	const top = startTop(box, {flags: ['--demo']});
	await top.waitFor(/7 +H100 +Error/v);
	const screen = top.screen().join('\n');
	expect(screen).toContain('SIMULATED');
	expect(screen).not.toContain('PRIVATE');
	for (const words of [
		/0 +H100 +Reserved +╭ada/v,
		/2 +H100 +Idle +grace/v,
		/6 +H100 +Unreserved +dave/v,
		/7 +H100 +Error.*GPU has/v,
		/1 +erin +GPU 2/v,
	]) {
		expect(screen).toMatch(words);
	}

	// The simulated night with its users: GPU 0 was alan's and then ada's.
	top.write('[[[');
	const night = await top.waitFor(/-24h,? +\d\d:\d\d .*now/v);
	expect(night.join('\n')).toMatch(/alan─+ +─/v);
	top.write(']]]');
	await top.waitFor(/-30s +now/v);

	top.write('q');
	expect(await top.exit).toMatchObject({exitCode: 0});
	expect(existsSync(`${box.home}/.local/state/canhazgpu/pool.sqlite`)).toBe(false);
	// `--once` works without a terminal.
	const printed = await box.run('top --demo');
	expect(printed).toMatchObject({exitCode: 0, stderr: 'SIMULATED GPUs: no real hardware is behind this pool.\n'});
	expect(printed.stdout).toMatch(/ 2 +│ ● IN_USE +│ grace/v);
	// Other programs still have no pool.
	const {exitCode} = await box.run('status');
	expect(exitCode).toBe(4);
});

slowTest('top --demo can adopt and kill its simulated processes', async () => {
	const box = createBox();
	onTestFinished(box.remove);
	const top = startTop(box, {flags: ['--demo'], size: {columns: 120, rows: 40}});
	await top.waitFor(/ 8 +L40S +Unreserved .*python3 train/v);
	top.write('j'.repeat(8));
	await top.waitFor('Detail GPU 8');
	await top.waitFor(' R Adopt');
	top.write('R');
	await top.waitFor('Adopt on GPU 8');
	top.write('y');
	await top.waitFor(/OK adopted process \d{7} \(python3\) on GPU 8/v);
	await top.waitFor(/ 8 +L40S +Mine .*RUN/v);
	top.write('K');
	await top.waitFor('Signal a process on GPU 8');
	top.write('y');
	await top.waitFor(/OK sent SIGTERM to process \d{7}/v);
	const after = await top.waitFor((screen) => !(rowOf(screen.split('\n'), 8) ?? '').includes('python3'));
	expect(after.join('\n')).not.toContain('Nothing sent');
	top.write('q');
	expect(await top.exit).toMatchObject({exitCode: 0});
});

slowTest('top --demo warns about an idle reservation, which the key E keeps', async () => {
	const box = createBox();
	onTestFinished(box.remove);
	const top = startTop(box, {flags: ['--demo'], size: {columns: 120, rows: 40}});
	await top.waitFor(/WARN GPU 10 goes back at \d\d:\d\d unless used: idle since \d\d:\d\d/v);
	const screen = await top.waitFor(' E Keep 2h');
	expect(rowOf(screen, 10)).toMatch(/Mine .*goes back at \d\d:\d\d/v);
	expect(rowOf(screen, 2)).toMatch(/grace .*goes back at \d\d:\d\d/v);
	top.write('E');
	await top.waitFor('OK kept GPU 10 for 2h 0m 0s even if idle');
	const kept = await top.waitFor((shown) => rowOf(shown.split('\n'), 10).includes('kept until'));
	expect(kept.join('\n')).not.toContain(' E Keep');
	top.write('q');
	expect(await top.exit).toMatchObject({exitCode: 0});
});
