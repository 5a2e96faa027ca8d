/** Notices reach the right targets, and programs get hostile notes, labels and account names in a harmless form. */
import {existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import process from 'node:process';
import {expect, onTestFinished, test, vi} from 'vitest';
import {readNoticeFailures, recordDeliveries, serviceHome} from '../../source/app/notice-failures.js';
import {createNotices, notifyBy} from '../../source/app/notify.js';
import {loadConfig} from '../../source/config/config.js';
import {requesterOf} from '../../source/core/rules/leases/ownership.js';
import {createHost} from '../../source/host/host.js';
import {harmlessJsonLine} from '../../source/format/text/json.js';
import type {Notice} from '../../source/format/notices/notice.js';
import type {Reminder} from '../../source/core/rules/notices/reminder.js';

const host = createHost();
const own = host.account.name;
const reminder: Reminder = {kind: 'ending', account: own, gpus: [3], remainingSeconds: 600};

/** Creates a home directory and a config file of the machine. Their `command` can be a program that appends its input to a file. */
function place() {
	const directory = mkdtempSync(path.join(tmpdir(), 'canhazgpu-notify-'));
	vi.stubEnv('HOME', directory);
	vi.stubEnv('XDG_STATE_HOME', path.join(directory, 'state'));
	onTestFinished(() => {
		vi.unstubAllEnvs();
		rmSync(directory, {recursive: true});
	});
	const machineFile = path.join(directory, 'machine.json');
	const script = String.raw`printf '%s\n' "$CANHAZGPU_NOTICE_ACCOUNT" "$CANHAZGPU_NOTICE_TEXT" >> "$1"; cat >> "$1"`;
	return {
		program: (name: string) => ['/bin/sh', '-c', script, 'sh', path.join(directory, name)],
		writeOwn(settings: Readonly<Record<string, unknown>>) {
			writeFileSync(path.join(directory, '.canhazgpu.json'), JSON.stringify({notify: settings}), {mode: 0o600});
		},
		writeMachine(settings: Readonly<Record<string, unknown>>) {
			writeFileSync(machineFile, JSON.stringify({notify: settings}));
		},
		load: async () =>
			loadConfig({
				flags: new Map(),
				environment: {},
				readsDirectory: false,
				machineFile,
				rootFile: path.join(directory, 'none'),
			}),
		sent(name: string) {
			const file = path.join(directory, name);
			return existsSync(file) ? readFileSync(file, 'utf8') : undefined;
		},
	};
}

async function notify(change: Partial<Reminder>) {
	const {program, writeMachine, load, sent} = place();
	writeMachine({command: program('out'), terminals: false});
	const problems = await notifyBy(await load(), host, {...reminder, ...change});
	return {problems, sent: sent('out')};
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

test("the machine's notify.command runs for any account of the machine, given by name or number", async () => {
	for (const account of ['daemon', '54321']) {
		const {problems, sent} = await notify({account});
		expect([problems, sent?.split('\n', 1)]).toEqual([[], [account]]);
	}
});

test('an account in a user namespace gets its own notices even if the machine has no account of that name', async () => {
	const {program, writeOwn, load, sent} = place();
	writeOwn({command: program('own'), terminals: false});
	const inside = {...host, account: {...host.account, userNamespace: '1000/4026532590'}};
	const {account} = requesterOf(inside.account);
	expect(await notifyBy(await load(), inside, {...reminder, account})).toEqual([]);
	expect(sent('own')?.split('\n', 1)).toEqual([account]);
});

test("the user's config file applies to the user's own notices, and the machine's config file to notices for other users", async () => {
	const {program, writeOwn, writeMachine, load, sent} = place();
	writeOwn({command: program('own'), terminals: false});
	const alone = await load();
	expect(createNotices(alone, host).sender).toMatchObject({reachesAll: false});
	await notifyBy(alone, host, {...reminder, account: 'daemon'});
	expect(sent('own')).toBeUndefined();

	writeMachine({command: program('machine'), events: ['granted']});
	const both = await load();
	expect(createNotices(both, host).sender).toMatchObject({reachesAll: true, others: {events: ['granted']}});
	await notifyBy(both, host, {...reminder, account: 'daemon'});
	expect(sent('machine')).toBeUndefined();
	await notifyBy(both, host, {kind: 'served', account: 'daemon', gpus: [3]});
	expect(sent('machine')).toMatch(/^daemon\n/v);
	expect(sent('own')).toBeUndefined();
	await notifyBy(both, host, {kind: 'served', account: own, gpus: [3]});
	expect(sent('own')).toMatch(new RegExp(String.raw`^${own}\n`, 'v'));
});

test("a notice is sent only for a configured event or at the user's request", async () => {
	const {program, writeOwn, load, sent} = place();
	writeOwn({command: program('out'), terminals: false});
	const config = await load();
	const job = {kind: 'job-ended', account: own, gpus: [0, 1], exitCode: 3, seconds: 7200, isTimedOut: false} as const;
	await notifyBy(config, host, {...job, isAsked: false});
	await notifyBy(config, host, {kind: 'squatter', account: own, gpus: [0]});
	expect(sent('out')).toBeUndefined();
	await notifyBy(config, host, {...job, note: 'eval', isAsked: true});
	const [, text, json] = sent('out')!.split('\n', 3);
	expect(text).toBe(`canhazgpu on ${host.hostname}: your job on GPUs 0,1 (eval) failed after 2h00m with exit code 3`);
	expect(JSON.parse(json!)).toEqual({
		kind: 'job-ended',
		account: own,
		host: host.hostname,
		gpu_ids: [0, 1],
		exit_code: 3,
		duration_seconds: 7200,
		note: 'eval',
		text,
	});
});

test.each<[Notice, string]>([
	[
		{kind: 'squatter', account: own, gpus: [3]},
		'a process of yours uses GPU 3, without a reservation. To find it: canhazgpu who 3. To reserve what it uses: canhazgpu reserve --pid PID',
	],
	[
		{kind: 'squatter', account: own, gpus: [3], owner: 'bob'},
		'a process of yours uses GPU 3, reserved by bob. To find it: canhazgpu who 3. Please end it, or wait in the queue',
	],
	[
		{kind: 'job-ended', account: own, gpus: [0], exitCode: 0, seconds: 5, isTimedOut: false, isAsked: true},
		'your job on GPU 0 succeeded after 5s with exit code 0',
	],
	[
		{kind: 'job-ended', account: own, gpus: [0], exitCode: 124, seconds: 60, isTimedOut: true, isAsked: true},
		'your job on GPU 0 reached its time limit after 1m with exit code 124',
	],
	[
		{kind: 'job-ended', account: own, gpus: [], jobId: '7_2', note: 'eval', problem: 'job 6 failed', isAsked: true},
		'your job 7_2 (eval) did not start: job 6 failed',
	],
])('the notice for %o says what happened and what to do', async (notice, text) => {
	const {program, writeOwn, load, sent} = place();
	writeOwn({command: program('out'), terminals: false, events: ['squatter']});
	await notifyBy(await load(), host, notice);
	expect(sent('out')!.split('\n', 2)[1]).toBe(`canhazgpu on ${host.hostname}: ${text}`);
});

test('the failure of one notification target affects no other target and is reported until the target works', async () => {
	const {program, writeOwn, load, sent} = place();
	const tell = {command: program('out'), terminals: false};
	writeOwn({...tell, to: ['webhook:http://127.0.0.1:1/hunter2', 'exec:/bin/false', 'exec:/nowhere/tell']});
	const config = await load();
	const problems = await notifyBy(config, host, reminder);
	expect(problems).toEqual([
		expect.stringMatching(/^webhook: /v),
		'/bin/false: it ended with exit code 1',
		'/nowhere/tell: spawn /nowhere/tell ENOENT',
	]);
	expect(sent('out')!.split('\n').slice(0, -1)).toHaveLength(3);
	const checks = createNotices(config, host).checks();
	expect(checks).toMatchObject([
		{name: 'webhook', failure: {ageText: '0s'}},
		{name: '/bin/false', failure: {reason: 'it ended with exit code 1'}},
		{name: '/nowhere/tell', problem: 'this account cannot run the program'},
		{name: 'notify.command', failure: undefined},
	]);
	expect(JSON.stringify([problems, checks])).not.toContain('hunter2');

	writeOwn({...tell, to: ['exec:/bin/true']});
	const works = await load();
	await notifyBy(works, host, reminder);
	expect(createNotices(works, host).checks()).toMatchObject([
		{name: '/bin/true', failure: undefined},
		{name: 'notify.command', failure: undefined},
	]);
});

test('for root, doctor also reports failures of the keep service, which has a home directory of its own', () => {
	place();
	const service = path.join(process.env['HOME']!, 'service');
	const failed = (name: string, reason: string, time: number) => {
		recordDeliveries(host, [{name, delivery: {outcome: 'failed', reason}}], time);
	};

	failed('mail', 'old', 10);
	failed('slack', 'new', 30);
	vi.stubEnv('XDG_STATE_HOME', path.join(service, '.local/state'));
	failed('mail', 'new', 20);
	failed('slack', 'old', 20);
	failed('ntfy', 'only of the service', 20);
	vi.stubEnv('XDG_STATE_HOME', path.join(process.env['HOME']!, 'state'));
	const reasonsFor = (uid: number) =>
		Object.fromEntries(
			[...readNoticeFailures({...host, account: {...host.account, uid}}, service)].map(([name, {reason}]) => [
				name,
				reason,
			]),
		);
	expect(reasonsFor(0)).toEqual({mail: 'new', slack: 'new', ntfy: 'only of the service'});
	expect(reasonsFor(1000)).toEqual({mail: 'old', slack: 'new'});
	const unit = readFileSync(new URL('../../source/installer/canhazgpu-keep.service', import.meta.url), 'utf8');
	expect(unit).toContain(`Environment=HOME=%S/${path.basename(serviceHome)}\n`);
});
