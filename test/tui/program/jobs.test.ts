/** The built monitor with detached jobs. */
import {expect, onTestFinished, test} from 'vitest';
import {createEmbeddedBox} from '../../_helpers/program/cli.js';
import {keys, isShown, startTop} from './_program.js';

test('top shows the output of a detached job, cancels the job and starts it again', async () => {
	const box = await createEmbeddedBox(1);
	onTestFinished(async () => {
		await box.run('cancel 1');
		box.remove();
	});
	const command = ['sh', '-c', String.raw`printf '\033[31mhello\033[0m\n'; exec sleep 600`];
	expect(await box.run(['run', '--detach', '--', ...command])).toMatchObject({exitCode: 0, stdout: '1\n'});
	const top = startTop(box);
	await top.waitFor(isShown(1));
	top.write('J');
	await top.waitFor(/> 1 +running .* GPU 0/v);
	top.write('l');
	await top.waitFor(/│ hello +│/v);
	top.write(keys.escape);
	await top.waitFor('8:Jobs');
	top.write('x');
	await top.waitFor('Cancel job 1?');
	top.write('y');
	await top.waitFor('OK Cancelled job 1');
	await top.waitFor(/> 1 +cancelled .* cancelled by/v);
	top.write('R');
	await top.waitFor('Start job 1 again?');
	top.write('y');
	await top.waitFor('OK Started job 1 again');
	await top.waitFor(/> 1 +running/v);
	top.write(':cancel \t');
	await top.waitFor(/:cancel 1 /v);
	top.write('\r');
	await top.waitFor('OK Cancelled job 1');
	await top.waitFor(/> 1 +cancelled/v);
	top.write(':logs 2\r');
	await top.waitFor('There is no job 2');
});
