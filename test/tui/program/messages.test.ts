/** Messages of other programs on the terminal of the monitor, such as those of write(1), wall(1) and the kernel. */
import {appendFileSync, readlinkSync, statSync} from 'node:fs';
import {expect, onTestFinished, test} from 'vitest';
import {createEmbeddedBox} from '../../_helpers/program/cli.js';
import {isShown, keys, startTop} from './_program.js';

test('top refuses messages while it runs, and Ctrl-R draws the screen again after a message that came anyway', async () => {
	const box = await createEmbeddedBox(4);
	onTestFinished(box.remove);
	const printMode = 'stat -c %A "$(tty)"';
	const top = startTop(box, {shell: `chmod g+w "$(tty)"; ${printMode}; "$@"; ${printMode}`});
	const before = await top.waitFor(isShown(4));
	const device = readlinkSync(`/proc/${top.pid}/fd/0`);
	// eslint-disable-next-line no-bitwise -- permissions are bits
	expect(statSync(device).mode & 0o020).toBe(0);

	appendFileSync(device, '\r\nA message of the kernel\r\n');
	await top.waitFor('A message of the kernel');
	top.write(keys.controlR);
	const after = await top.waitFor((screen) => isShown(4)(screen) && !screen.includes('A message'));
	const withoutTime = (screen: readonly string[]) => screen.slice(1);
	expect(withoutTime(after)).toEqual(withoutTime(before));

	top.write('q');
	await top.exit;
	expect(top.screen().slice(0, 2)).toEqual(['crw--w----', 'crw--w----']);
});
