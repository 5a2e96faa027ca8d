/** The input that `notify.command` gets for hostile notes, labels and account names. */
import {existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {expect, onTestFinished, test} from 'vitest';
import {notifyBy} from '../../source/app/notify.js';
import {loadConfig} from '../../source/config/config.js';
import {createHost} from '../../source/host/host.js';
import {harmlessJsonLine} from '../../source/format/text/json.js';
import type {Reminder} from '../../source/core/operations/reminders.js';

const reminder: Reminder = {kind: 'ending', account: createHost().account.name, gpus: [3], remainingSeconds: 600};

async function notify(change: Partial<Reminder>) {
	const directory = mkdtempSync(path.join(tmpdir(), 'canhazgpu-notify-'));
	onTestFinished(() => {
		rmSync(directory, {recursive: true});
	});
	const out = path.join(directory, 'out');
	const script = String.raw`printf '%s\n' "$CANHAZGPU_NOTICE_ACCOUNT" "$CANHAZGPU_NOTICE_TEXT" > "$1"; cat >> "$1"`;
	const file = path.join(directory, 'config.json');
	writeFileSync(file, JSON.stringify({notify: {command: ['/bin/sh', '-c', script, 'sh', out], terminals: false}}));
	const config = await loadConfig({flags: new Map(), environment: {}, file});
	const problems = await notifyBy(config, createHost(), {...reminder, ...change});
	return {problems, sent: existsSync(out) ? readFileSync(out, 'utf8') : undefined};
}

test('notify.command gets notes and labels as escaped JSON without losing data', async () => {
	const hostile = {note: 'a\u{202E}b\u{9B}31m\u{2028}\u{1B}]0;x\u{7}', label: '\u{2066}x', leaseId: '\u{85}'};
	const {problems, sent} = await notify(hostile);
	expect(problems).toEqual([]);
	expect(sent).not.toMatch(/[[\p{Control}\p{Format}\p{Line_Separator}]--\n]/v);
	const [account, , json] = sent!.split('\n', 3);
	expect(account).toBe(reminder.account);
	expect(JSON.parse(json!)).toMatchObject({note: hostile.note, label: hostile.label, lease_id: hostile.leaseId});
});

test.each([
	'-froot@example.org',
	'\u{1B}[31mroot',
	'ro\u{202E}ot',
	'root\nBcc: x',
	'../root',
	'nobody-has-this-name',
	'',
])('notify.command does not run for an account that does not exist: %j', async (account) => {
	const {problems, sent} = await notify({account});
	expect(sent).toBeUndefined();
	expect(problems).toEqual([`there is no account ${harmlessJsonLine(account)} on this machine`]);
});

test('notify.command runs for an account of this machine, by name or by number', async () => {
	for (const account of ['daemon', '54321']) {
		const {problems, sent} = await notify({account});
		expect([problems, sent?.split('\n', 1)]).toEqual([[], [account]]);
	}
});
