/**
Hosts that hang, refuse, lie or have another version, together with two working hosts. Real OpenSSH connects to one server on 127.0.0.1 for each host.
The working hosts are shown completely and at once, and each other host with its problem.
*/
import {chmodSync, readdirSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import {afterAll, beforeAll, expect, onTestFinished, test} from 'vitest';
import {startSshServers, type SshServers} from '../../_helpers/machine/ssh-server.js';
import {createBox, createEmbeddedBox, type Box} from '../../_helpers/program/cli.js';
import {start} from '../../_helpers/program/processes.js';
import {isShown, startTop} from '../../tui/program/_program.js';
import {askJson, listenTo, startWeb} from '../../web/_server.js';

/** Values in the format of `status --json` from a hostile program, and from one with a wrong clock. */
const escapes = String.raw`[{"gpu_id":0,"status":"\u001b[2JIN_USE","user":"\u001b]0;owned\u0007mallory\u202e","note":"\u001b[31mred\nline","gpu_model":"H100"}]`;
const absurd = JSON.stringify([
	{
		gpu_id: 0,
		status: 'IN_USE',
		user: 'erin',
		type: 'MANUAL',
		duration: '9999999h 59m 59s',
		expiry_time: '9999-12-31T23:59:59Z',
		ends_by: '+275760-09-13T00:00:00Z',
		remaining_seconds: 1e300,
		idle_seconds: 1e18,
		last_heartbeat: '1970-01-01T00:00:00Z',
	},
	{
		gpu_id: 1,
		status: 'IN_USE',
		user: 'frank',
		type: 'MANUAL',
		duration: '-5h',
		expiry_time: '0001-01-01T00:00:00Z',
		remaining_seconds: -86_400,
	},
]);
const future = JSON.stringify([
	{gpu_id: 0, status: 'AVAILABLE', gpu_model: 'H900', quantum: {qubits: [1, {deep: true}]}, memory_used_mb: '4 GiB'},
]);

const stubScript = String.raw`words="$*"
tell() { case "$words" in *--follow) printf '{"version":"99.0","gpus":%s}\n' "$1"; exec sleep 600;; *queue*) echo '{"entries":[]}';; *) printf '%s\n' "$1";; esac; }
`;

/** Shell scripts that replace canhazgpu on these hosts. */
const programs = {
	hangs: 'exec sleep 600',
	garbage: 'head -c 100000 /dev/urandom',
	huge: 'echo \'[\'; exec yes \'{"gpu_id":0,"status":"AVAILABLE"},\'',
	endless: String.raw`printf '{"gpus":['; exec tr '\0' x </dev/zero`,
	escapes: `${stubScript}tell '${escapes}'`,
	schema: `${stubScript}tell '[{"gpu_id":"zero"}]'`,
	clock: `${stubScript}tell '${absurd}'`,
	newer: `${stubScript}tell '${future}'`,
	old: 'case "$*" in *--follow) echo \'Error: status has no flag --follow\' >&2; exit 2;; *queue*) exit 2;; *) echo \'[{"gpu_id":0,"status":"AVAILABLE","gpu_model":"A100"}]\';; esac',
} as const;

/** Hosts whose server itself has a problem: stopped, switched off, with another key, and without the program. */
const servers = ['stopped', 'off', 'key', 'bare'] as const;

let here: Box;
let good: Record<'near' | 'far', Box>;
let troubled: Readonly<Record<string, Box>>;
let machines: SshServers;
let environment: Record<string, string>;

const fileOf = (name: string): string => path.join(here.home, 'ssh', name);

beforeAll(async () => {
	here = await createEmbeddedBox(1);
	good = {near: await createEmbeddedBox(2), far: await createEmbeddedBox(4)};
	await good.near.run('reserve -g 1 -d 4h');
	troubled = Object.fromEntries([...Object.keys(programs), ...servers].map((name) => [name, createBox()]));
	// The working hosts come last, so that every problem of another host comes before them.
	machines = await startSshServers(fileOf(''), {...troubled, ...good});
	for (const [name, lines] of Object.entries(programs)) {
		const file = path.join(troubled[name]!.home, 'installed/canhazgpu');
		writeFileSync(file, `#!/bin/sh\n${lines}\n`);
		chmodSync(file, 0o755);
	}

	process.kill(Number(readFileSync(fileOf('stopped.pid'), 'utf8')), 'SIGSTOP');
	await machines.stop('off');
	rmSync(path.join(troubled['bare']!.home, 'installed'), {recursive: true});
	// This host accepts only a key that does not exist.
	const client = readFileSync(fileOf('client.conf'), 'utf8').split('\n');
	const index = client.findIndex((line, at) => at > client.indexOf('Host key') && line.startsWith('IdentityFile '));
	writeFileSync(fileOf('client.conf'), client.with(index, `IdentityFile ${fileOf('none')}`).join('\n'));
	environment = {
		PATH: `${machines.directory}:${here.environment['PATH']!}`,
		CANHAZGPU_REMOTE_HOSTS: [...Object.keys(troubled), 'near', 'far'].join(','),
	};
});

afterAll(async () => {
	await machines.stopAll();
	for (const box of [here, ...Object.values(good), ...Object.values(troubled)]) {
		box.remove();
	}
});

/** The error shown for each host whose answer is unusable. */
const refusals: Readonly<Record<string, RegExp>> = {
	hangs: /^hangs: no answer within 1[05] s$/v,
	stopped: /^stopped: (?:no answer within 1[05] s|(?:ssh: connect to host|Connection timed out|Connection to) .*)$/v,
	off: /^off: ssh: connect to host 127\.0\.0\.1 port \d+: Connection refused$/v,
	key: /^key: .*Permission denied \(publickey.*\)\.$/v,
	bare: /^bare: canhazgpu is not installed there$/v,
	garbage: /^garbage: /v,
	huge: /^huge: (?:its answer is longer than 4 MB|no answer within 1[05] s)$/v,
	endless: /^endless: (?:its answer is longer than 4 MB|no answer within 1[05] s)$/v,
	schema: /^schema: its answer is not /v,
};

const isHarmless = (words: string): boolean => !/[\p{Control}\u{202E}]/v.test(words.replaceAll('\n', ''));

type Rows = ReadonlyArray<Readonly<Record<string, unknown>>>;

test('status --all shows all rows of working hosts and the problem of each failing host', async () => {
	const {exitCode, stdout, stderr} = await here.run('status --all --json', environment);
	expect([exitCode, stderr]).toEqual([0, '']);
	const hosts = JSON.parse(stdout) as Readonly<Record<string, Rows | {readonly error: string}>>;
	expect(hosts['near']).toMatchObject([{status: 'IN_USE'}, {status: 'AVAILABLE'}]);
	expect(hosts['far']).toHaveLength(4);
	for (const [name, words] of Object.entries(refusals)) {
		expect(hosts[name]).toEqual({error: expect.stringMatching(words) as string});
	}

	expect(hosts['old']).toHaveLength(1);
	expect(hosts['newer']).toHaveLength(1);
	expect(hosts['clock']).toHaveLength(2);
	const summary = await here.run('status --all --summary', environment);
	expect(summary.stdout).toMatch(/ near +│ 2 .*│ ✓ 1 +│ 1/v);
	expect(summary.stdout).toMatch(/ off +│ - .*Connection refused/v);
	for (const text of [stdout, summary.stdout]) {
		expect(isHarmless(text)).toBe(true);
	}
});

test('status --all prints a working host without waiting for hanging hosts', async () => {
	const asking = start(here, 'status --all', environment);
	const beganMs = performance.now();
	await expect.poll(() => /^far$/mv.test(asking.stdout())).toBe(true);
	const shownMs = performance.now() - beganMs;
	expect(asking.stdout()).not.toMatch(/^hangs$/mv);
	const {stdout, exitCode} = await asking.ended;
	const endedMs = performance.now() - beganMs;
	process.stderr.write(`far is shown after ${shownMs.toFixed(0)} ms, all after ${endedMs.toFixed(0)} ms\n`);
	expect([exitCode, isHarmless(stdout)]).toEqual([0, true]);
	expect(stdout).toMatch(/^escapes\n.*\n.*\n.*mallory/mv);
	expect(shownMs).toBeLessThan(endedMs - 2000);
});

/** The lines of a host on the screen. */
const linesOf = (screen: readonly string[], host: string): string =>
	screen.filter((line) => new RegExp(`^│[ >] ${host} `, 'v').test(line)).join('\n');

/** The ssh process of this monitor for that host. */
const connectionsTo = (host: string): readonly number[] =>
	readdirSync('/proc')
		.filter((name) => {
			try {
				const words = readFileSync(`/proc/${name}/cmdline`, 'utf8');
				return words.includes(fileOf('client.conf')) && words.includes(`\0${host}\0canhazgpu\0status`);
			} catch {
				return false;
			}
		})
		.map(Number);

test('top shows working hosts live and marks a frozen host with the age of its values', async () => {
	const top = startTop(here, {environment, size: {columns: 160, rows: 50}});
	await top.waitFor(isShown(1));
	const beganMs = performance.now();
	top.write('H');
	await top.waitFor(/far +3 Free/v);
	await top.waitFor(/near +0 Mine/v);
	process.stderr.write(`the good ones are shown after ${(performance.now() - beganMs).toFixed(0)} ms\n`);
	await top.waitFor(/hangs +! no answer within 15 s/v);
	const screen = await top.waitFor(/endless +!/v);
	expect(linesOf(screen, 'off')).toMatch(/! ssh: Connection refused/v);
	expect(linesOf(screen, 'key')).toMatch(/! .*Permission denied \(publickey/v);
	expect(linesOf(screen, 'bare')).toMatch(/! canhazgpu is not installed there/v);
	for (const name of ['stopped', 'garbage', 'huge', 'schema']) {
		expect(linesOf(screen, name)).toMatch(/! \S/v);
	}

	expect(linesOf(screen, 'escapes')).toMatch(/0 Error +mallory/v);
	expect(linesOf(screen, 'clock')).toMatch(/0 \S.* erin[\s\S]*1 Reserved +frank/v);
	expect(linesOf(screen, 'newer')).toMatch(/0 Free/v);
	expect(linesOf(screen, 'old')).toMatch(/too old for status --follow[\s\S]*0 Free/v);
	const changedMs = performance.now();
	await good.far.run('reserve -g 2 -d 1h');
	await top.waitFor(/far +1 Mine/v);
	process.stderr.write(
		`a change on a good one is shown ${(performance.now() - changedMs).toFixed(0)} ms after it was typed\n`,
	);
	// The host freezes: its connection stays open and is silent.
	const [frozen] = connectionsTo('near');
	process.kill(frozen!, 'SIGSTOP');
	await top.waitFor(/near +! no answer within 15 s \(values of [12]\ds ago\)/v);
	await top.waitFor(/near +0 Mine\?/v);
	expect(linesOf(top.screen(), 'far')).toMatch(/1 Mine /v);
	await top.waitFor(/near +0 Mine /v);
	expect(connectionsTo('near')).not.toContain(frozen);
	top.write('q');
	expect(await top.exit).toMatchObject({exitCode: 0});
	await expect.poll(() => [...Object.keys(troubled), 'near', 'far'].flatMap((name) => connectionsTo(name))).toEqual([]);
	await good.far.run('release');
});

test('web sends working hosts at once, and the problems of failing hosts as sanitized text', async () => {
	const web = await startWeb(here, [], {...environment, CANHAZGPU_WEB_HOSTS_INTERVAL: '2s'});
	onTestFinished(async () => {
		await web.end('SIGKILL');
	});
	type HostUpdate = {readonly name: string; readonly error?: string; readonly gpus?: Rows};
	const stream = listenTo(web.port, '?hosts');
	onTestFinished(stream.close);
	const latest = (): ReadonlyMap<string, HostUpdate> =>
		new Map(
			stream.messages
				.flatMap(({event, data}) => (event === 'hosts' ? (data['hosts'] as readonly HostUpdate[]) : []))
				.map((host) => [host.name, host]),
		);
	await expect.poll(() => latest().get('near')?.gpus?.length).toBe(2);
	await expect.poll(() => latest().get('far')?.gpus?.length).toBe(4);
	expect(latest().get('hangs')).toBeUndefined();
	await expect.poll(() => latest().size).toBe(Object.keys(troubled).length + 2);
	for (const [name, words] of Object.entries(refusals)) {
		expect(latest().get(name)?.error).toMatch(words);
	}

	const answer = await askJson<Rows>(web.port, '/api/hosts/status?host=clock');
	expect(JSON.stringify(answer)).not.toMatch(/Invalid|NaN|\+275760|\de\+|\d{15}/v);
	expect(stream.messages.every(({data}) => isHarmless(JSON.stringify(data)))).toBe(true);
});
