/** The command line by which `ps` shows whose job this is: the parser must not overwrite it. */
import {expect, test} from 'vitest';
import {createEmbeddedBox} from '../../_helpers/program/cli.js';

test('run keeps its command line in /proc as it was typed', async () => {
	const box = await createEmbeddedBox(1);
	const {stdout} = await box.run([
		'run',
		'--note',
		'two words',
		'--',
		'sh',
		'-c',
		String.raw`tr '\0' '\n' </proc/$PPID/cmdline`,
	]);
	expect(stdout.split('\n').slice(-8)).toEqual([
		'run',
		'--note',
		'two words',
		'--',
		'sh',
		'-c',
		expect.stringContaining('/proc/'),
		'',
	]);
	box.remove();
});
