import {type ChildProcess, execFileSync, spawn} from 'node:child_process';
import {once} from 'node:events';
import {existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {text} from 'node:stream/consumers';
import process from 'node:process';
import {expect, onTestFinished, test} from 'vitest';
import {livenessOfOrphans, childIdentity, ownIdentity} from '../../../source/host/process/processes.js';
import {readStat} from '../../../source/host/process/proc.js';
import {eventually} from '../../_helpers/eventually.js';
import {identityOf} from '../../_helpers/machine/identity-of.js';

const groupOf = (pid: number): number => {
	const stat = readStat(pid);
	return typeof stat === 'object' ? stat.processGroup : 0;
};

/** Starts a shell in its own process group. The group is killed after the test. */
function startShell(script: string): ChildProcess & {readonly pid: number} {
	const shell = spawn('bash', ['-c', script], {stdio: ['pipe', 'pipe', 'ignore'], detached: true});
	onTestFinished(() => {
		for (const group of [shell.pid!, ...groups.splice(0)]) {
			try {
				process.kill(-group, 'SIGKILL');
			} catch {
				// Already gone.
			}
		}
	});
	return shell as ChildProcess & {readonly pid: number};
}

const groups: number[] = [];

test('livenessOfOrphans returns "alive" until all processes that a dead process left behind have ended', async () => {
	const shell = startShell('sleep 600 >/dev/null & echo $!; read');
	const dead = {...childIdentity(shell.pid), group: groupOf(shell.pid)};
	const [line] = (await once(shell.stdout!.setEncoding('utf8'), 'data')) as [string];
	shell.kill('SIGKILL');
	await once(shell, 'exit');
	expect(livenessOfOrphans(dead)).toBe('alive');
	// A process that is older than the dead one is not its child.
	const later = {...dead, startTicks: dead.startTicks! + 1_000_000};
	expect(livenessOfOrphans(later)).toBe('dead');
	// If the start was read in another time namespace, older processes cannot be distinguished.
	expect(livenessOfOrphans({...later, timeNamespace: '1'})).toBe('alive');
	expect(livenessOfOrphans({pid: dead.pid, startTicks: dead.startTicks})).toBe('dead');
	process.kill(Number(line), 'SIGKILL');
	await eventually(() => livenessOfOrphans(dead) === 'dead');
});

test('livenessOfOrphans ignores the other processes of a pipeline', async () => {
	// Each pipeline has its own process group, as in an interactive shell.
	const shell = startShell('set -m; sleep 600 | sleep 601 >/dev/null & jobs -p; echo $!; read');
	let said = '';
	shell.stdout!.setEncoding('utf8').on('data', (words: string) => {
		said += words;
	});
	await eventually(() => said.split('\n').length === 3);
	const [first = 0, second = 0] = said.split('\n').map(Number);
	groups.push(first);
	const dead = {...identityOf(first)!, group: groupOf(first)};
	expect(dead.group).toBe(groupOf(second));
	process.kill(first, 'SIGKILL');
	await eventually(() => identityOf(first) === undefined);
	expect(identityOf(second)).toBeDefined();
	expect(livenessOfOrphans(dead)).toBe('dead');
});

test('livenessOfOrphans returns "unknown" for an invisible process group', async () => {
	const shell = startShell('read');
	const dead = {pid: 3_999_999, startTicks: 0, group: shell.pid};
	expect(livenessOfOrphans(dead, '/nowhere')).toBe('unknown');
	expect(livenessOfOrphans({...dead, group: 1})).toBe('dead');
	expect(livenessOfOrphans({...dead, group: 3_999_999})).toBe('dead');
	expect(livenessOfOrphans({...dead, group: 2 ** 53})).not.toBe('alive');
	shell.stdin!.end();
	await text(shell.stdout!);
	expect(ownIdentity().group).toBe(groupOf(process.pid));
});

test('livenessOfOrphans returns "dead" for a process group that ends during the search', () => {
	const directory = mkdtempSync(path.join(tmpdir(), 'chg-orphans-'));
	onTestFinished(() => {
		rmSync(directory, {recursive: true, force: true});
	});
	mkdirSync(path.join(directory, '1'));
	// The code under test blocks when it opens this file, until the group has ended and was reaped.
	const stat = path.join(directory, '1/stat');
	const group = path.join(directory, 'group');
	execFileSync('mkfifo', [stat]);
	const parent = startShell(
		`set -m; sleep 600 >/dev/null 2>&1 & echo $! > ${group}.new; mv ${group}.new ${group}; { kill -KILL $!; wait $!; echo '1 (init) S 0 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 1 0 0'; } > ${stat}`,
	);
	const deadline = performance.now() + 20_000;
	// The search is synchronous, as in the program, so the test cannot await events here.
	while (!existsSync(group) && performance.now() < deadline) {
		execFileSync('sleep', ['0.01']);
	}

	const pid = Number(readFileSync(group, 'utf8'));
	groups.push(pid);
	expect(livenessOfOrphans({pid: parent.pid, startTicks: 1, group: pid}, directory)).toBe('dead');
});
