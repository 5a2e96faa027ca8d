/** How the answers and errors of ssh are read, and hostnames that look like options or commands. */
import {chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import process from 'node:process';
import {expect, onTestFinished, test, vi} from 'vitest';
import {followRemoteStatus} from '../../../source/host/tool/follow-status.js';
import {remoteQueue, remoteStatus} from '../../../source/host/tool/ssh.js';
import {ask, startWeb} from '../../web/_server.js';
import {freshEmbeddedBox} from '../../_helpers/program/processes.js';
import {slowTest} from '../../_helpers/slow.js';

const hostileNames = [
	'-oProxyCommand=touch pwned',
	'--',
	'-l',
	'a b',
	'$(touch pwned)',
	'`touch pwned`',
	'a;touch pwned',
	'a|b',
	'a\nb',
	'a\u{0}b',
	'a/../b',
	'@host',
	'user@',
	'-user@host',
	'user@-host',
	'user@@host',
	'',
	'.',
	'host.',
	'x'.repeat(300),
];

test('status --remote rejects malicious hostnames before it runs ssh', async () => {
	const box = await freshEmbeddedBox(1);
	const bin = path.join(box.home, 'bin');
	const trace = path.join(box.home, 'asked');
	mkdirSync(bin);
	writeFileSync(path.join(bin, 'ssh'), `#!/bin/sh\necho "$@" >> '${trace}'\necho '[]'\n`);
	chmodSync(path.join(bin, 'ssh'), 0o755);
	vi.stubEnv('PATH', `${bin}:${process.env['PATH']!}`);
	onTestFinished(() => {
		vi.unstubAllEnvs();
	});
	for (const name of hostileNames) {
		await expect(remoteStatus(name), JSON.stringify(name)).rejects.toThrow('is not a host name');
	}

	expect(existsSync(trace)).toBe(false);
	expect(await remoteStatus('alice@gpu-box-2.example.org')).toEqual([]);
	expect(existsSync(trace)).toBe(true);
});

test.each([
	['lines that look like JSON lists', String.raw`[ OK ] modules\n[INFO] ready\n[1]\n[2]\n[3]\n[4]\n%s`],
	['a terminal title', String.raw`\033]0;alice@near\007%s`],
	['a greeting after the answer', String.raw`%sGoodbye\nCome [again] soon\n`],
])('the answer of another host is parsed despite %s from its login script', async (_, form) => {
	const directory = mkdtempSync(path.join(tmpdir(), 'canhazgpu-ssh-'));
	const answers = {status: '[{"gpu_id": 0, "status": "AVAILABLE"}]', queue: '{"entries": [{"id": "a"}]}'};
	const follow = JSON.stringify({gpus: JSON.parse(answers.status) as unknown});
	writeFileSync(
		path.join(directory, 'ssh'),
		`#!/bin/sh
case "$*" in *--follow) answer='${follow}' ;; *queue*) answer='${answers.queue}' ;; *) answer='${answers.status}' ;; esac
printf '${form}' "$answer
"
`,
		{mode: 0o755},
	);
	vi.stubEnv('PATH', `${directory}:${process.env['PATH']!}`);
	onTestFinished(() => {
		vi.unstubAllEnvs();
		rmSync(directory, {recursive: true});
	});
	expect(await remoteStatus('near')).toEqual([{gpu_id: 0, status: 'AVAILABLE'}]);
	expect(await remoteQueue('near')).toMatchObject({entries: [{id: 'a'}]});
	const followed: unknown[] = [];
	const following = followRemoteStatus(
		'near',
		({rows}) => {
			followed.push(rows);
		},
		new AbortController().signal,
	);
	await expect(following).rejects.toThrow('near: ');
	expect(followed).toEqual([[{gpu_id: 0, status: 'AVAILABLE'}]]);
});

test('an answer full of incomplete escape sequences is parsed quickly', async () => {
	const directory = mkdtempSync(path.join(tmpdir(), 'canhazgpu-ssh-'));
	writeFileSync(path.join(directory, 'answer'), '\u{1B}]a;'.repeat(200_000));
	writeFileSync(path.join(directory, 'ssh'), `#!/bin/sh\ncat '${directory}/answer'\n`, {mode: 0o755});
	vi.stubEnv('PATH', `${directory}:${process.env['PATH']!}`);
	onTestFinished(() => {
		vi.unstubAllEnvs();
		rmSync(directory, {recursive: true});
	});
	await expect(remoteStatus('near')).rejects.toThrow('near: its status is not valid JSON');
}, 60_000);

slowTest('web connects neither to hostile names nor to hosts outside its config', async () => {
	const box = await freshEmbeddedBox(1);
	for (const name of hostileNames.slice(4, 8)) {
		const ran = await box.run(['status', '--remote', name]);
		expect([name, ran.exitCode, ran.stdout]).toEqual([name, 2, '']);
	}

	const web = await startWeb(box);
	onTestFinished(async () => {
		await web.end('SIGKILL');
	});
	for (const name of [...hostileNames, 'elsewhere', '__proto__']) {
		const {status} = await ask(web.port, `/api/hosts/status?host=${encodeURIComponent(name)}`);
		expect([name, status]).toEqual([name, 404]);
	}
});

test.each([
	[
		'echo "alice@near: Permission denied (publickey)." >&2; exit 255',
		/^Error: near: .*\ncanhazgpu never .*: ssh-copy-id near\n$/v,
	],
	['echo "Host key verification failed." >&2; exit 255', /^Error: near: .*\nLog in once .*: ssh near\n$/v],
	[
		'echo "ssh: Could not resolve hostname near: Name or service not known" >&2; exit 255',
		/^Error: near: .*\nUse a name that ssh can find: .*\n$/v,
	],
	[
		'echo "Host key for near has changed and you have requested strict checking." >&2; echo "Host key verification failed." >&2; exit 255',
		/^Error: near: Host key for near has changed .*\nLog in once .*: ssh near\n$/v,
	],
	[
		'echo "This account is currently not available."; exit 1',
		/^Error: near: This account is currently not available\.\n$/v,
	],
	[
		String.raw`printf "%s\n" "ssh: connect to host jump port 22: Connection refused" "kex_exchange_identification: Connection closed by remote host" "Connection closed by UNKNOWN port 65535" >&2; exit 255`,
		/^Error: near: ssh: connect to host jump port 22: Connection refused\n$/v,
	],
	[
		'echo "Connection closed by UNKNOWN port 65535" >&2; exit 255',
		/^Error: near: Connection closed by UNKNOWN port 65535\n$/v,
	],
	['exit 127', /^Error: near: canhazgpu is not installed there\n.*: ssh near 'command -v canhazgpu'\n$/v],
])('status --remote explains why ssh failed: %s', async (script, words) => {
	const box = await freshEmbeddedBox(1);
	const bin = path.join(box.home, 'bin');
	mkdirSync(bin);
	writeFileSync(path.join(bin, 'ssh'), `#!/bin/sh\n${script}\n`);
	chmodSync(path.join(bin, 'ssh'), 0o755);
	const {exitCode, stderr} = await box.run('status --remote near', {PATH: `${bin}:${process.env['PATH']!}`});
	expect([exitCode, stderr]).toEqual([1, expect.stringMatching(words)]);
});
