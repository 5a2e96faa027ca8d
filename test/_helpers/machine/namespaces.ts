/** Runs the program in its own namespaces, like a container or a hardened service. */
import {spawn, spawnSync} from 'node:child_process';
import {once} from 'node:events';
import {readFileSync} from 'node:fs';
import process from 'node:process';
import {text} from 'node:stream/consumers';
import {onTestFinished} from 'vitest';
import {starter, starterText, type Box, type Ran} from '../program/cli.js';

/** Arguments of `unshare`, and shell commands that run in the namespaces before the program starts. */
export type NamespaceOptions = {readonly flags: readonly string[]; readonly prepare?: string};

/** A /proc that contains only processes, as in a service with `ProcSubset=pid`. The boot id cannot be read. */
export const processesOnly: NamespaceOptions = {flags: ['--mount'], prepare: 'mount -t proc -o subset=pid proc /proc'};

/** A pid namespace, as in a container. Processes inside and outside cannot see whether the others are alive. */
export const ownPids: NamespaceOptions = {flags: ['--pid', '--fork', '--mount-proc', '--kill-child']};

/** A time namespace in which the machine seems to have started earlier. */
export const ownTime: NamespaceOptions = {flags: ['--time', '--boottime', '1000', '--monotonic', '1000']};

/** A machine with the same machine-id but another boot id, which is read from this file. */
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

/** Whether this process can create these namespaces. Prints a message if it cannot, so that skipped tests are noticed. */
export function canEnter(options: NamespaceOptions): boolean {
	const {status, stderr, error} = spawnSync('unshare', wordsIn(options, ['true']), {encoding: 'utf8'});
	if (status !== 0) {
		const why = (error?.message ?? stderr).trim();
		console.warn(`Tests are skipped that need unshare ${options.flags.join(' ')}: ${why}`);
	}

	return status === 0;
}

/** Starts `canhazgpu` in the namespaces. It is killed when the test ends. */
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
	/** Kills the first process in the namespaces. In a pid namespace, all others die with it. */
	const kill = (): void => {
		if (child.exitCode !== null || child.signalCode !== null) {
			return;
		}

		const pid = child.pid!;
		const program = isForked ? Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ', 1)[0]) : pid;
		// `kill` with pid 0 would kill our own process group.
		if (program > 0) {
			process.kill(program, 'SIGKILL');
		}
	};

	onTestFinished(kill);
	return {stderr: () => stderr, ended, kill};
}

/** Runs `canhazgpu` in the namespaces until it exits. */
export const runIn = async (options: NamespaceOptions, box: Box, words: string): Promise<Ran> =>
	startIn(options, box, words).ended;
