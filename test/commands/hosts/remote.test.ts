/** `status` of other hosts, with a fake ssh. */
import {chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {hostname} from 'node:os';
import path from 'node:path';
import {afterAll, beforeAll, expect, onTestFinished, test} from 'vitest';
import {firstCase, slowTest} from '../../_helpers/slow.js';
import {account, createBox, createEmbeddedBox, starter, starterText, type Box} from '../../_helpers/program/cli.js';
import {eventually} from '../../_helpers/eventually.js';
import {isAlive, start} from '../../_helpers/program/processes.js';
import {openTerminal} from '../../_helpers/machine/terminal.js';
import {isShown, keys, startTop} from '../../tui/program/_program.js';

let box: Box;
let environment: Record<string, string>;

/** Output of the Go program. */
const peerStatus = JSON.stringify([
	{
		gpu_id: 0,
		status: 'IN_USE',
		user: 'carol',
		duration: '1h 0m 0s',
		type: 'RUN',
		details: 'heartbeat 0h 0m 5s ago',
		gpu_model: 'H100',
	},
	{
		gpu_id: 1,
		status: 'AVAILABLE',
		details: 'never used',
		validation: '4MB used',
		gpu_model: 'H100',
		expiry_time: '0001-01-01T00:00:00Z',
	},
	{gpu_id: 2, status: 'UNRESERVED', user: 'x\u{1B}[31m', details: 'a\u{202E}b', gpu_model: 'H100'},
]);

const stub = String.raw`#!/bin/sh
printf '%s\n' "$@" > "$HOME/ssh-arguments"
for word do if [ "$host" = next ]; then host="$word"; fi; if [ "$word" = -- ]; then host=next; fi; done
case "$host" in
good) echo 'Welcome!'; echo '[!] Reboot on Friday'; cat "$HOME/peer.json";;
noisy) echo '<html>';;
lost) echo 'ssh: connect to host lost port 22: No route to host' >&2; exit 255;;
bare) exit 127;;
down) printf 'Error: Cannot reach Redis at localhost:6379\nIs it running? systemctl status redis\n' >&2; exit 4;;
deep) printf '[{"gpu_id":0,"status":"AVAILABLE","note":'; head -c 1000000 /dev/zero | tr '\0' '['; head -c 1000000 /dev/zero | tr '\0' ']'; echo '}]';;
slow) echo $$ > "$HOME/asking.new"; mv "$HOME/asking.new" "$HOME/asking"; exec sleep 600;;
used) echo '[{"gpu_id":0,"status":"UNRESERVED","details":"WITHOUT RESERVATION","unreserved_users":["dave","erin"],"process_info":"8452MB used by PID 7 (python3)"}]';;
late) while [ ! -e "$HOME/now" ]; do sleep 0.05; done; echo '[]';;
drip) while :; do printf '['; sleep 0.05; done;;
esac
`;

beforeAll(async () => {
	box = await createEmbeddedBox(2);
	const bin = path.join(box.home, 'bin');
	mkdirSync(bin);
	writeFileSync(path.join(bin, 'ssh'), stub);
	chmodSync(path.join(bin, 'ssh'), 0o755);
	writeFileSync(path.join(box.home, 'peer.json'), peerStatus);
	environment = {PATH: `${bin}:${box.environment['PATH']!}`, CANHAZGPU_REMOTE_HOSTS: 'good,lost,noisy,bare'};
});

afterAll(() => {
	box.remove();
});

test('status --remote ignores text that the host prints before its answer', async () => {
	const {stdout, exitCode} = await box.run('status --remote good', environment);
	expect(exitCode).toBe(0);
	expect(stdout).toMatch(/ 0 +│ ● IN_USE +│ carol │ 1h 0m 0s │ RUN +│ heartbeat 0h 0m 5s ago/v);
	expect(stdout).toMatch(/ 2 +│ ⚠ UNRESERVED │ x +│ - +│ - +│ a b /v);
	expect(stdout.replaceAll('\n', '')).not.toMatch(/[\p{Control}\u{202E}]/v);
	expect(readFileSync(path.join(box.home, 'ssh-arguments'), 'utf8').split('\n')).toEqual([
		'-aTx',
		'-o',
		'BatchMode=yes',
		'-o',
		'ConnectTimeout=5',
		'-o',
		'ClearAllForwardings=yes',
		'-o',
		'RemoteCommand=none',
		'--',
		'good',
		'canhazgpu',
		'status',
		'--json',
		'',
	]);
	expect(JSON.parse((await box.run('status --remote good --json', environment)).stdout)).toEqual(
		JSON.parse(peerStatus),
	);
});

test('status --all shows failing hosts with their errors', async () => {
	const summary = await box.run('status --all --summary', environment);
	expect(summary.exitCode).toBe(0);
	expect(summary.stdout).toMatch(/│ 2 +│ 2x Simulated H100 80GB +│ ✓ 2 +│ 0/v);
	expect(summary.stdout).toMatch(/ good +│ 3 +│ 3x H100 +│ ✓ 1 +│ 2/v);
	expect(summary.stdout).toContain('│ ssh: connect to host lost port 22: No route to host │');
	const json = JSON.parse((await box.run('status --all --json', environment)).stdout) as Record<string, unknown>;
	expect(json).toMatchObject({
		good: [{gpu_id: 0}, {gpu_id: 1}, {gpu_id: 2}],
		lost: {error: 'lost: ssh: connect to host lost port 22: No route to host'},
		noisy: {error: 'noisy: its status is not valid JSON'},
		bare: {error: 'bare: canhazgpu is not installed there'},
	});
	expect(Object.values(json)[0]).toHaveLength(2);
	const tables = await box.run('status --all', environment);
	expect(tables.stdout).toContain('good\n GPU │ STATUS');
	expect(tables.stdout).toContain('lost\n✗ lost: ssh: connect to host lost port 22: No route to host');
	for (const {stderr} of [tables, summary]) {
		expect(stderr).toBe(`SIMULATED GPUs: no real hardware is behind the pool of ${hostname()}.\n`);
	}
});

test('status --remote shows the unreserved users and processes that the Go canhazgpu reports', async () => {
	const {stdout} = await box.run('status --remote used', environment);
	expect(stdout).toMatch(/ 0 +│ ⚠ UNRESERVED │ dave,erin │ - +│ - +│ 8452MB used by PID 7 \(python3\) │/v);
});

slowTest('status --all and queue --all omit the local machine if it has no pool', async () => {
	const laptop = createBox({...environment, CANHAZGPU_REMOTE_HOSTS: 'good'});
	onTestFinished(laptop.remove);
	writeFileSync(path.join(laptop.home, 'peer.json'), peerStatus);
	expect(Object.keys(JSON.parse((await laptop.run('status --all --json')).stdout) as Record<string, unknown>)).toEqual([
		'good',
	]);
	expect((await laptop.run('status --all --summary')).stdout).not.toContain('no GPU pool');
	expect((await laptop.run('status --all')).stdout).toMatch(/^good\n/v);
	expect((await laptop.run('queue --all')).stdout).not.toContain('no GPU pool');
	// The same command without other hosts fails.
	expect((await laptop.run('status --all', {CANHAZGPU_REMOTE_HOSTS: ''})).stdout).toContain('no GPU pool');
});

slowTest('status --all warns on stderr about a private pool, except with --json', async () => {
	const laptop = createBox();
	onTestFinished(laptop.remove);
	// The monitor creates a private pool if there is no pool.
	const monitor = openTerminal(starter, [...starterText, 'top'], {cwd: laptop.home, environment: laptop.environment});
	onTestFinished(async () => monitor.close());
	await monitor.waitFor('PRIVATE pool');
	monitor.write('q');
	await monitor.exit;
	const label = `PRIVATE pool of ${account}: nobody else sees these reservations. To create a pool for everybody: sudo canhazgpu admin\n`;
	for (const words of ['status', 'status --all', 'status --all --summary']) {
		expect((await laptop.run(words)).stderr).toContain(label);
	}

	expect(await laptop.run('status --all --json')).toMatchObject({exitCode: 0, stderr: ''});
});

slowTest('status --all prints hosts in the order of remote_hosts, and slow hosts last, as they answer', async () => {
	const hosts = {...environment, CANHAZGPU_REMOTE_HOSTS: 'slow,late,lost,good,used'};
	rmSync(path.join(box.home, 'now'), {force: true});
	const asking = start(box, 'status --all', hosts);
	await eventually(() => /^used$/mv.test(asking.stdout()));
	expect(asking.stdout()).not.toMatch(/^late$/mv);
	writeFileSync(path.join(box.home, 'now'), '');
	const {stdout} = await asking.ended;
	const names = stdout.split('\n').filter((line) => /^(?:lost|good|used|late|slow)$/v.test(line));
	expect(names).toEqual(['lost', 'good', 'used', 'late', 'slow']);
	const json = (await box.run('status --all --json', hosts)).stdout;
	expect(Object.keys(JSON.parse(json) as Record<string, unknown>).slice(1)).toEqual([
		'slow',
		'late',
		'lost',
		'good',
		'used',
	]);
	rmSync(path.join(box.home, 'now'), {force: true});
});

test('on a terminal, status --all shows which hosts have not answered yet', async () => {
	const terminal = openTerminal(starter, [...starterText, 'status', '--all', '--summary'], {
		columns: 120,
		rows: 20,
		cwd: box.home,
		environment: {...box.environment, ...environment, CANHAZGPU_REMOTE_HOSTS: 'good,late'},
	});
	onTestFinished(async () => terminal.close());
	await terminal.waitFor(/^Asking late\s*$/mv);
	writeFileSync(path.join(box.home, 'now'), '');
	await terminal.waitFor(/ late +│ 0 /v);
	expect(terminal.screen().join('\n')).not.toContain('Asking');
});

slowTest('status --all gives up on silent hosts after 10 s and shows the other hosts', async () => {
	const {stdout} = await box.run('status --all --summary', {...environment, CANHAZGPU_REMOTE_HOSTS: 'slow,drip,good'});
	expect(stdout).toContain('slow │ -     │ no answer within 10 s ');
	expect(stdout).toContain('drip │ -     │ no answer within 10 s ');
	expect(stdout).toMatch(/ good +│ 3 /v);
});

test.each(
	firstCase<[string, string[], string]>([
		['lost', [], 'ssh: connect to host lost port 22: No route to host'],
		// The message of canhazgpu on the host, without its hint.
		['down', ['--summary'], 'Cannot reach Redis at localhost:6379'],
		['deep', ['--json'], 'its answer is not a list of GPUs'],
	]),
)('status --remote %s %j fails with "%s"', async (host, flags, words) => {
	expect(await box.run(['status', '--remote', host, ...flags], environment)).toEqual({
		exitCode: 1,
		stdout: '',
		stderr: `Error: ${host}: ${words}\n`,
	});
});

test.each(['status --remote slow', 'status --all --json'])('Ctrl-C during %s leaves no ssh process', async (words) => {
	const note = path.join(box.home, 'asking');
	rmSync(note, {force: true});
	const asking = start(box, words, {...environment, CANHAZGPU_REMOTE_HOSTS: 'slow'});
	await eventually(() => existsSync(note));
	const pid = Number(readFileSync(note, 'utf8'));
	asking.kill('SIGINT');
	expect(await asking.ended).toMatchObject({exitCode: 130, stdout: ''});
	await eventually(() => !isAlive(pid));
});

test('`:host` in the monitor lists hosts as they answer, and Enter opens the selected host', async () => {
	const hosts = {...environment, CANHAZGPU_REMOTE_HOSTS: 'good,lost,slow'};
	const top = startTop(box, {environment: hosts});
	await top.waitFor(isShown(2));
	top.write(`:host${keys.enter}`);
	await top.waitFor(/good +│ ✓ 1 +│ 2 +│ 3 /v);
	await top.waitFor(/lost +│ - .*✗ ssh: connect to host lost port 22: No route to host/v);
	await top.waitFor(/slow +│ - .*asking…/v);
	top.write('j');
	await top.waitFor(/> good/v);
	top.write(keys.enter);
	await top.waitFor(/0 +│ ● IN_USE +│ carol/v);
	top.write(keys.escape);
	await top.waitFor(/> good/v);
	top.write(keys.escape);
	await top.waitFor('Enter Detail');
	top.write(`:host lots${keys.enter}`);
	await top.waitFor('There is no host lots in the setting remote_hosts');
});
