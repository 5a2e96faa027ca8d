/** `notify`, `run --notify` and `doctor`, with a local server that plays Slack, Discord and ntfy. */
import {chmodSync, chownSync, cpSync, existsSync, readdirSync, readFileSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {expect, onTestFinished, test} from 'vitest';
import {createHost} from '../../source/host/host.js';
import {eventually} from '../_helpers/eventually.js';
import {alice, directoryOf, isRoot, mallory, root, runAs} from '../_helpers/machine/accounts.js';
import {startChatServer, token} from '../_helpers/machine/chat-server.js';
import {account, createEmbeddedBox, type Box} from '../_helpers/program/cli.js';
import {holdEnding} from '../_helpers/program/ending.js';
import {start} from '../_helpers/program/processes.js';
import {firstCase, isLong, slowTest} from '../_helpers/slow.js';

const {hostname} = createHost();

async function createBox(gpuCount = 1): Promise<Box> {
	const box = await createEmbeddedBox(gpuCount);
	onTestFinished(box.remove);
	return box;
}

function configure({home}: Pick<Box, 'home'>, notify: Readonly<Record<string, unknown>>, mode = 0o600): string {
	const file = path.join(home, '.canhazgpu.json');
	writeFileSync(file, JSON.stringify({notify}), {mode});
	return file;
}

test('notify --test sends one notice to each target and reports failed targets', async () => {
	const box = await createBox();
	const {urlOf, heard} = await startChatServer();
	const works = ['slack', 'discord', 'ntfy', 'webhook'].map((service) => `${service}:${urlOf(service)}`);
	configure(box, {to: [...works, 'exec:/bin/true']});
	// The request must not use this proxy, which would learn the URLs. Nothing listens at its address.
	expect(await box.run('notify --test', {HTTP_PROXY: 'http://127.0.0.1:1'})).toEqual({
		exitCode: 0,
		stdout: 'slack: delivered\ndiscord: delivered\nntfy: delivered\nwebhook: delivered\n/bin/true: delivered\n',
		stderr: '',
	});
	const text = `canhazgpu on ${hostname}: this is a test. Notices arrive here.`;
	const named = `${account}: ${text}`;
	expect(heard('slack')).toEqual([JSON.stringify({text: named, mrkdwn: false, link_names: false})]);
	expect(heard('discord')).toEqual([JSON.stringify({content: named, allowed_mentions: {parse: []}})]);
	expect(heard('ntfy')).toEqual([named]);
	expect(heard('webhook').map((body) => JSON.parse(body) as unknown)).toEqual([
		{kind: 'test', account, host: hostname, gpu_ids: [], text},
	]);

	configure(box, {to: [`slack:${urlOf('gone')}`, `webhook:${urlOf('away')}`, works[2]!, 'exec:/bin/false']});
	expect(await box.run('notify --test')).toEqual({
		exitCode: 1,
		stdout:
			'slack: not delivered: it answered 404\nwebhook: not delivered: it answered 307. Redirects are not followed\nntfy: delivered\n/bin/false: not delivered: it ended with exit code 1\n',
		stderr: '',
	});
	expect(heard('webhook')).toHaveLength(1);
	const diagnosis = await box.run('doctor');
	expect(diagnosis.stdout).toMatch(/^⚠ notify {6}slack: the last notice, \d+s ago, did not arrive: it answered 404$/mv);
	expect(diagnosis.stdout).toContain('Try it: canhazgpu notify --test');
	expect(diagnosis.stdout).not.toContain(token);
});

test('notify lists the targets without showing their URLs', async () => {
	const box = await createBox();
	configure(box, {to: ['slack:https://example.org/hunter2', 'mail:a@b'], events: ['expiry'], quiet: '22:00-07:00'});
	expect(await box.run('notify')).toEqual({
		exitCode: 0,
		stdout: 'targets     slack, mail to a@b\nevents      expiry\nquiet time  22:00-07:00\n',
		stderr: '',
	});
	configure(box, {to: []});
	expect(await box.run('notify --test')).toMatchObject({
		exitCode: 1,
		stderr: expect.stringMatching(/^Error: There is no target to test\n/v) as unknown,
	});
});

test.each(
	firstCase([
		[
			{to: ['slakc:https://example.org/hunter2']},
			'notify.to must be a list of terminal,',
			'Item 1: slakc is not one of these targets.',
		],
		[{to: 'terminal'}, 'notify.to must be a list of terminal,', 'For example: notify: {to: [terminal, mail]}'],
		[
			{events: ['granted', 'x']},
			'notify.events must be a list of expiry, idle, granted, overuse, job-ended, squatter, not',
			'Fix the file',
		],
		[{quiet: '22-7'}, 'notify.quiet must be a start and an end time, such as 22:00-07:00, not "22-7"', 'Fix the file'],
	]),
)('the config %j is refused', async (notify, message, hint) => {
	const box = await createBox();
	configure(box, notify);
	const {exitCode, stdout, stderr} = await box.run('notify');
	expect([exitCode, stdout]).toEqual([2, '']);
	expect(stderr).toContain(message);
	expect(stderr).toContain(hint);
	expect(stderr).not.toContain(token);
});

test('run --notify reports the end of a job without exposing the URL to other processes', async () => {
	const box = await createBox(2);
	const {urlOf, heard} = await startChatServer();
	configure(box, {to: [`slack:${urlOf('slack')}`, `webhook:${urlOf('webhook')}`], events: ['expiry']});
	expect(await box.run(['run', '--gpus', '2', '--', 'true'])).toMatchObject({exitCode: 0, stderr: ''});
	expect(heard('slack')).toEqual([]);

	const environment = path.join(box.home, 'environment');
	const go = path.join(box.home, 'go');
	const script = `env > ${environment}; until [ -e ${go} ]; do sleep 0.05; done; exit 7`;
	const job = start(
		box,
		['run', '--gpus', '2', '--notify', '--note', '<!channel> @everyone', '--', 'sh', '-c', script],
		{
			CANHAZGPU_NOTIFY_TO: `slack:${urlOf('slack')},webhook:${urlOf('webhook')}`,
		},
	);
	await eventually(() => existsSync(environment));
	const commandLines = readdirSync('/proc')
		.filter((name) => /^\d+$/v.test(name) && existsSync(`/proc/${name}/cmdline`))
		.map((name) => readCommandLine(name));
	expect(commandLines.some((line) => line.includes('--notify'))).toBe(true);
	expect(commandLines.filter((line) => line.includes(urlOf('slack')))).toEqual([]);
	expect(readFileSync(environment, 'utf8')).not.toContain(token);
	writeFileSync(go, '');
	expect(await job.ended).toMatchObject({exitCode: 7, stdout: '', stderr: ''});
	expect(heard('webhook').map((body) => JSON.parse(body) as unknown)).toEqual([
		{
			kind: 'job-ended',
			account,
			host: hostname,
			gpu_ids: [0, 1],
			lease_id: expect.any(String) as unknown,
			exit_code: 7,
			duration_seconds: expect.any(Number) as unknown,
			note: '<!channel> @everyone',
			text: expect.stringContaining('your job on GPUs 0,1 (<!channel> @everyone) failed after') as unknown,
		},
	]);
	expect(heard('slack')).toEqual([expect.stringContaining('&lt;!channel&gt; @\u{200B}everyone')]);
	const {stdout} = await box.run('events --json');
	expect(stdout).not.toContain(token);
});

slowTest('run --detach --notify reports a job that never starts', async () => {
	const box = await createBox();
	const {urlOf, heard} = await startChatServer();
	configure(box, {to: [`webhook:${urlOf('webhook')}`]});
	const notices = () =>
		heard('webhook').map((body) => {
			const {text, reason, gpu_ids: gpus} = JSON.parse(body) as Readonly<Record<string, unknown>>;
			return {text, reason, gpus};
		});
	const told = (id: number, reason: string) => ({
		text: `canhazgpu on ${hostname}: your job ${id} did not start: ${reason}`,
		reason,
		gpus: [],
	});
	const submit = async (words: string) => {
		expect(await box.run(`run --detach --notify -q ${words}`)).toMatchObject({exitCode: 0});
	};

	await submit('--begin 1h -- true');
	await submit('--after 1 -- true');
	expect(await box.run('cancel 1')).toMatchObject({exitCode: 0});
	await eventually(() => notices().length === 2);
	expect(notices()).toEqual(
		expect.arrayContaining([told(1, `cancelled by ${account}`), told(2, 'job 1 was cancelled')]),
	);

	await submit('--nonblock --gpu-ids 0 -- true');
	await box.run('wait 3');
	expect(notices()).toHaveLength(3);

	expect(await box.run('reserve --gpu-ids 0')).toMatchObject({exitCode: 0});
	await submit('--nonblock --gpu-ids 0 -- true');
	await eventually(() => notices().length === 4);
	expect(notices()[3]).toMatchObject({text: expect.stringMatching(/your job 4 did not start: .+/v) as unknown});
});

/** Returns the command line of a process, or an empty text if the process has ended. */
function readCommandLine(pid: string): string {
	try {
		return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
	} catch {
		return '';
	}
}

slowTest('a target that hangs does not keep run --notify from ending', async () => {
	const box = await createBox();
	const {urlOf, heard} = await startChatServer();
	configure(box, {to: [`webhook:${urlOf('hangs')}`, `ntfy:${urlOf('ntfy')}`]});
	const {exitCode, stderr} = await box.run('run --notify -- true');
	expect(exitCode).toBe(0);
	expect(stderr).toMatch(/^canhazgpu: the end of the job could not be reported: webhook: .*\n$/v);
	expect(stderr).not.toContain(token);
	expect([heard('hangs').length, heard('ntfy').length]).toEqual([1, 1]);
});

test.runIf(isRoot)('a config file with a URL is refused if others may read the file', async () => {
	const home = directoryOf(alice);
	const {urlOf, heard} = await startChatServer();
	const file = path.join(home, '.canhazgpu.json');
	const run = async (mode: string, who = alice) => {
		writeFileSync(file, JSON.stringify({notify: {to: [`ntfy:${urlOf('ntfy')}`]}}));
		chownSync(file, alice.uid, alice.gid);
		chmodSync(file, Number.parseInt(mode, 8));
		return runAs(who, ['notify', '--test'], {cwd: '/', environment: {HOME: home}});
	};

	for (const mode of ['644', '640', '604']) {
		expect(await run(mode)).toEqual({
			exitCode: 2,
			stdout: '',
			stderr: `Error: ${file}: notify.to contains a URL, which is a secret, but others can read the file\nMake it readable only by you: chmod 600 ${file}\n`,
		});
	}

	expect(await run('600')).toEqual({exitCode: 0, stdout: 'ntfy: delivered\n', stderr: ''});
	expect(heard('ntfy')).toEqual([`${alice.uid}: canhazgpu on ${hostname}: this is a test. Notices arrive here.`]);
	// Other accounts do not use alice's config file.
	expect((await run('600', mallory)).stdout).not.toContain('ntfy');
	expect(heard('ntfy')).toHaveLength(1);
});

test.runIf(isLong && isRoot)("notices to other accounts never use root's own config file", async () => {
	const box = await createBox(5);
	const etc = directoryOf(root);
	cpSync('/etc', etc, {recursive: true, verbatimSymlinks: true});
	const {urlOf, heard} = await startChatServer();
	const machine = `notify: {to: ["ntfy:${urlOf('ntfy')}", "slack:${urlOf('hangs')}", "exec:/bin/false"]}\n`;
	writeFileSync(path.join(etc, 'canhazgpu.root.yaml'), machine, {mode: 0o600});
	configure(box, {to: [`webhook:${urlOf('webhook')}`]});
	const owner = String(alice.uid);
	await holdEnding(box, 1, '@here', {owner, leftSeconds: 500});
	const go = path.join(box.home, 'go');
	const script = `until [ -e ${go} ]; do sleep 0.05; done`;
	const startJob = async () =>
		runAs(root, ['run', '--', 'sh', '-c', script], {cwd: box.home, environment: box.environment, etc});
	const jobs = [startJob(), startJob()];
	await eventually(() => heard('ntfy').length > 0 && heard('hangs').length > 0);
	// A third job looks for reminders soon after its start. Root's own notice, which goes to its own target, shows that it did.
	await holdEnding(box, 2);
	jobs.push(startJob());
	await eventually(() => heard('webhook').length > 0);
	writeFileSync(go, '');
	for (const {exitCode, stderr} of await Promise.all(jobs)) {
		expect(exitCode).toBe(0);
		expect(stderr).not.toContain(token);
	}

	expect(heard('ntfy')).toEqual([
		expect.stringMatching(
			new RegExp(String.raw`^${owner}: canhazgpu on ${hostname}: your reservation of GPU 1 \(@here\) ends in 8m`, 'v'),
		),
	]);
	expect(heard('hangs')).toHaveLength(1);
	expect(heard('webhook').map((body) => (JSON.parse(body) as {account: string}).account)).toEqual([account]);
});

test.runIf(isRoot)('notification URLs in the file that only root can read apply to all accounts', async () => {
	const etc = directoryOf(root);
	cpSync('/etc', etc, {recursive: true, verbatimSymlinks: true});
	const {urlOf, heard} = await startChatServer();
	const run = async (who: typeof alice, words: readonly string[]) =>
		runAs(who, words, {cwd: '/', environment: {HOME: directoryOf(who), CANHAZGPU_NOTIFY_TERMINALS: 'true'}, etc});
	const rootFile = path.join(etc, 'canhazgpu.root.yaml');
	const content = `notify: {to: ["ntfy:${urlOf('ntfy')}"]}\nredis: {port: 1}\n`;
	writeFileSync(rootFile, content, {mode: 0o600});
	expect(await run(root, ['notify', '--test'])).toEqual({
		exitCode: 0,
		stdout: 'ntfy: delivered\n',
		stderr:
			'Warning: /etc/canhazgpu.root.yaml: redis.port is ignored in this file, and allowed only in /etc/canhazgpu.yaml, which everybody can read\n',
	});
	expect(heard('ntfy')).toHaveLength(1);
	expect(await run(alice, ['notify'])).toMatchObject({
		exitCode: 0,
		stdout: expect.stringMatching(/^targets {5}terminal\n/v) as unknown,
		stderr: '',
	});

	const machineFile = path.join(etc, 'canhazgpu.yaml');
	writeFileSync(machineFile, content, {mode: 0o644});
	expect(await run(alice, ['notify'])).toEqual({
		exitCode: 2,
		stdout: '',
		stderr:
			'Error: /etc/canhazgpu.yaml: notify.to contains a URL, which is a secret, but others can read the file\nMove notify.to to /etc/canhazgpu.root.yaml, which only root can read. See: canhazgpu help notifications\n',
	});
});
