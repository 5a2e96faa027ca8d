/** The parser must not overwrite the command line that `ps` shows. */
import {expect, test} from 'vitest';
import {createEmbeddedBox} from '../../_helpers/program/cli.js';

test('run keeps its original command line in /proc', async () => {
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
