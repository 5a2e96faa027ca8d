/** The table of all hosts in the built monitor, with a fake ssh that runs the program in the home of the host. */
import {chmodSync, mkdirSync, renameSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {afterAll, beforeAll, expect, onTestFinished, test} from 'vitest';
import {makeStubSsh} from '../../_helpers/machine/stub-ssh.js';
import {createBox, createEmbeddedBox, type Box} from '../../_helpers/program/cli.js';
import {peek} from '../../_helpers/program/processes.js';
import {slowTest} from '../../_helpers/slow.js';
import {isShown, keys, startTop} from '../../tui/program/_program.js';

let here: Box;
let far: Box;
let environment: Record<string, string>;

beforeAll(async () => {
	[here, far] = await Promise.all([createEmbeddedBox(1), createEmbeddedBox(3)]);
	const bin = path.join(here.home, 'bin');
	makeStubSsh(bin, {far});
	environment = {PATH: `${bin}:${here.environment['PATH']!}`, CANHAZGPU_REMOTE_HOSTS: 'far,lost'};
});

afterAll(() => {
	here.remove();
	far.remove();
});

test('in the monitor, H lists all hosts, r reserves on the selected host, and Enter opens the selected host', async () => {
	const top = startTop(here, {environment});
	await top.waitFor(isShown(1));
	top.write('H');
	await top.waitFor(/lost +! ssh: No route to host/v);
	await top.waitFor(/Free 4 .* of 4/v);
	top.write('jr');
	await top.waitFor('Reserve GPUs on far');
	top.write(`2${keys.tab}1h${keys.enter}`);
	await top.waitFor(/reserved GPUs 0,1 of far for 1h 0m 0s/v);
	const {gpus} = await peek(far);
	expect(gpus.filter(({kind}) => kind === 'leased')).toHaveLength(2);
	top.write(keys.enter);
	await top.waitFor(isShown(3));
	top.write('q');
	await top.waitFor(/far +0 Mine +\S+ +59m/v);
	await top.waitFor(/Free 2 {2}Mine 2/v);
	top.write('q');
	expect(await top.exit).toMatchObject({exitCode: 0});
});

/** Hosts with faults. The fake ssh serves all others. */
const strangeHosts = `#!/bin/sh
for word do if [ "$host" = next ]; then host=$word; fi; if [ "$word" = -- ]; then host=next; fi; done
case "$host $*" in
'old '*--follow) echo 'Error: status has no flag --follow' >&2; exit 2;;
'go '*--follow) echo 'Error: unknown flag: --follow' >&2; exit 1;;
'old '*status*) echo '[{"gpu_id":0,"status":"AVAILABLE","gpu_model":"H100"}]';;
'go '*status*) echo '[{"gpu_id":0,"status":"IN_USE","user":"carol","type":"RUN","gpu_model":"H100"}]';;
'liar '*) echo '{"gpus":[{"gpu_id":"zero"}]}'; exec sleep 600;;
'hangs '*) exec sleep 600;;
'bare '*) exit 127;;
*) exec "$(dirname "$0")/ssh-stub" "$@";;
esac
`;

test('the host list of the monitor shows working hosts although other hosts hang, fail or run another version', async () => {
	const bin = path.join(here.home, 'strange');
	mkdirSync(bin);
	makeStubSsh(bin, {far});
	renameSync(path.join(bin, 'ssh'), path.join(bin, 'ssh-stub'));
	writeFileSync(path.join(bin, 'ssh'), strangeHosts);
	chmodSync(path.join(bin, 'ssh'), 0o755);
	const names = 'hangs,liar,bare,lost,old,go,far';
	const top = startTop(here, {
		environment: {PATH: `${bin}:${here.environment['PATH']!}`, CANHAZGPU_REMOTE_HOSTS: names},
	});
	await top.waitFor(isShown(1));
	top.write('H');
	await top.waitFor(/far +2 Free/v);
	await top.waitFor(/old +0 Free/v);
	await top.waitFor(/go +0 Reserved +carol/v);
	const screen = top.screen().join('\n');
	expect(screen).toMatch(/hangs +asking/v);
	expect(screen).toMatch(/liar +! its answer is not a status/v);
	expect(screen).toMatch(/bare +! canhazgpu is not installed there/v);
	expect(screen).toMatch(/lost +! ssh: No route/v);
	expect(screen).toMatch(/old +its canhazgpu is too old for status --follow/v);
	top.write('q');
	expect(await top.exit).toMatchObject({exitCode: 0});
});

slowTest(
	'on a computer without a pool, the monitor opens the list of hosts and can reserve on another host',
	async () => {
		const laptop = createBox();
		onTestFinished(laptop.remove);
		const top = startTop(laptop, {environment});
		await top.waitFor(/2 hosts +1 answering +1 not answering/v);
		await top.waitFor(/> far +0/v);
		top.write('1');
		await top.waitFor('This computer has no GPU pool');
		top.write(`r1${keys.tab}2h${keys.enter}`);
		await top.waitFor(/reserved GPU \d of far for 2h 0m 0s/v);
		top.write(`:host${keys.enter}`);
		await top.waitFor(/> far +│/v);
		top.write(keys.escape);
		await top.waitFor(/r Reserve .* q Quit/v);
		top.write('q');
		expect(await top.exit).toMatchObject({exitCode: 0});
		expect(await laptop.run('status')).toMatchObject({exitCode: 4});
		for (const command of [
			'status',
			'queue',
			'report',
			'events',
			'reserve',
			'release',
			'extend -d 1h',
			'run -- true',
		]) {
			const bare = await laptop.run(command, environment);
			expect([command, bare.exitCode, bare.stdout]).toEqual([command, 4, '']);
			expect(bare.stderr).toMatch(
				/^Error: There is no GPU pool on this machine yet\nTo see the hosts in remote_hosts: canhazgpu status --all\. To use one: --on far with run, reserve, release, extend or queue\. To have a pool on this machine as well, create one\. /v,
			);
		}

		expect((await laptop.run('queue --all', environment)).stdout).toMatch(
			/^Nobody waits\n✗ lost: ssh: connect to host lost port 22: No route to host\n$/v,
		);
		const {exitCode, stdout} = await laptop.run('status --all --summary', environment);
		expect([exitCode, stdout]).toEqual([0, expect.stringMatching(/ far +│ 3 /v)]);
		expect(stdout).not.toContain('no GPU pool');
	},
);
