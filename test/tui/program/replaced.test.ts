/** The monitor after its program was updated or removed, so that modules it has not loaded yet are missing. */
import {cpSync, rmSync} from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import {expect, onTestFinished, test} from 'vitest';
import {createEmbeddedBox, program} from '../../_helpers/program/cli.js';
import {isShown, keys, startTop} from './_program.js';

test('top continues after its program was replaced, and reports this when it needs a missing module', async () => {
	const box = await createEmbeddedBox(2);
	onTestFinished(box.remove);
	const copy = path.join(box.home, 'dist');
	cpSync(path.dirname(program), copy, {recursive: true});
	const top = startTop(box, {
		shell: `exec '${process.execPath}' '${copy}/cli.js' top`,
		environment: {CANHAZGPU_REMOTE_HOSTS: 'near'},
	});
	await top.waitFor(isShown(2));
	rmSync(copy, {recursive: true});

	const why = 'The program was replaced or removed while this monitor was running';
	top.write(':');
	await top.waitFor('Enter Run');
	top.write(`report${keys.enter}`);
	await top.waitFor(why);
	top.write(`${keys.escape}${keys.escape}S`);
	await top.waitFor(`ERR ${why}`);
	top.write('H');
	await top.waitFor(/near .*! .*The program was replaced/v);
	top.write('q');
	expect(await top.exit).toMatchObject({exitCode: 0});
});
