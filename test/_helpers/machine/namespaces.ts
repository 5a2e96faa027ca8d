/** The program in namespaces of its own, as containers and hardened services run it. */
import {spawn, spawnSync} from 'node:child_process';
import {once} from 'node:events';
import {readFileSync} from 'node:fs';
import process from 'node:process';
import {text} from 'node:stream/consumers';
import {onTestFinished} from 'vitest';
import {starter, starterText, type Box, type Ran} from '../program/cli.js';

/** What `unshare` is told, and what a shell does in the namespaces before the program starts. */
export type NamespaceOptions = {readonly flags: readonly string[]; readonly prepare?: string};

/** /proc without anything but processes, as in a service with `ProcSubset=pid`: the boot id cannot be read. */
export const processesOnly: NamespaceOptions = {flags: ['--mount'], prepare: 'mount -t proc -o subset=pid proc /proc'};

/** Pids of its own, as in a container: nobody outside can judge its processes, nor it those outside. */
export const ownPids: NamespaceOptions = {flags: ['--pid', '--fork', '--mount-proc', '--kill-child']};

/** A time namespace in which the machine was started earlier. */
export const ownTime: NamespaceOptions = {flags: ['--time', '--boottime', '1000', '--monotonic', '1000']};

/** A machine with our machine-id and another boot, whose id this file holds. */
export const cloneOf = (bootIdFile: string): NamespaceOptions => ({
	flags: ['--mount', '--uts'],
	prepare: `mount --bind ${bootIdFile} /proc/sys/kernel/random/boot_id && hostname clone`,
});

const wordsIn = ({flags, prepare = 'true'}: NamespaceOptions, words: readonly string[]): readonly string[] => [
	...flags,
	'sh',
	'-c',
	`${prepare} && exec "$@"`,
	'sh',
	...words,
];

/** Whether this account may make these namespaces. Says so where it may not: a skipped test shall not go unnoticed. */
export function canEnter(options: NamespaceOptions): boolean {
	const {status, stderr, error} = spawnSync('unshare', wordsIn(options, ['true']), {encoding: 'utf8'});
	if (status !== 0) {
		const why = (error?.message ?? stderr).trim();
		console.warn(`Tests are skipped that need unshare ${options.flags.join(' ')}: ${why}`);
	}

	return status === 0;
}

/** Starts `canhazgpu` in there; it is killed when the test ends first. */
export function startIn(options: NamespaceOptions, box: Box, words: string) {
	const child = spawn('unshare', wordsIn(options, [starter, ...starterText, ...words.split(' ')]), {
		cwd: box.home,
		env: {...process.env, ...box.environment},
		stdio: ['ignore', 'pipe', 'pipe'],
	});
	let stderr = '';
	child.stderr.setEncoding('utf8').on('data', (part: string) => {
		stderr += part;
	});
	const stdout = text(child.stdout);
	const ended = (async (): Promise<Ran> => {
		await once(child, 'close');
		return {exitCode: child.exitCode ?? undefined, stdout: await stdout, stderr};
	})();
	const isForked = options.flags.includes('--fork');
	/** Ends the first process in there, and with that of a pid namespace all others. */
	const kill = (): void => {
		if (child.exitCode !== null || child.signalCode !== null) {
			return;
		}

		const pid = child.pid!;
		const program = isForked ? Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ', 1)[0]) : pid;
		// Zero would be our own process group.
		if (program > 0) {
			process.kill(program, 'SIGKILL');
		}
	};

	onTestFinished(kill);
	return {stderr: () => stderr, ended, kill};
}

/** Runs `canhazgpu` in there to its end. */
export const runIn = async (options: NamespaceOptions, box: Box, words: string): Promise<Ran> =>
	startIn(options, box, words).ended;
