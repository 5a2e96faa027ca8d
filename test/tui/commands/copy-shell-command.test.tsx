/** Ctrl-Y in a dialog. */
import {Buffer} from 'node:buffer';
import {afterEach, expect, test} from 'vitest';
import {endSession, keys, startMonitor, type Session} from '../_harness.js';
import {createBox, lease} from '../_world.js';

const ctrlY = '\u{19}';

const copied = (command: string): string => `\u{1B}]52;c;${Buffer.from(command).toString('base64')}\u{7}`;

let session: Session | undefined;

afterEach(async () => {
	await endSession(session);
	session = undefined;
});

test('Ctrl-Y copies the shell command for the values typed into a form, and keeps the form open', async () => {
	session = startMonitor(await createBox(2));
	await session.shows(/> 0 +Free/v);
	await session.press('r', keys.tab, '2h');
	await session.shows('$ canhazgpu reserve --gpus 1 --duration 2h');
	await session.press(ctrlY);
	await session.shows('OK Copied the command (if your terminal allows OSC 52)');
	await session.shows('$ canhazgpu reserve --gpus 1 --duration 2h');
	expect(session.written()).toContain(copied('canhazgpu reserve --gpus 1 --duration 2h --nonblock'));
});

test('Ctrl-Y in a yes-or-no dialog copies the shell command and does not answer the dialog', async () => {
	const box = await createBox(2, {leases: {0: lease('alice')}});
	session = startMonitor(box);
	await session.shows(/> 0 +Mine/v);
	await session.press('x');
	await session.shows(/\$ canhazgpu release/v);
	await session.press(ctrlY);
	await session.shows('OK Copied the command');
	expect(session.written()).toContain(copied('canhazgpu release --gpu-ids 0'));
	expect(session.store.getState().dialog?.kind).toBe('confirmation');
	expect((await box.store.read()).gpus.map(({kind}) => kind)).toEqual(['leased', 'free']);
});
