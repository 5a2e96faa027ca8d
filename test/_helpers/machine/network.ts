/** A second machine, simulated by a network namespace, with a cable that can be cut. A cut drops packets without notifying either end. */
import {execFileSync, spawnSync} from 'node:child_process';
import process from 'node:process';
import {eventually} from '../eventually.js';

export type Network = {
	/** The network address of the second machine. */
	readonly address: string;
	/** A command prefix that starts a program on that machine. */
	readonly entrance: readonly string[];
	readonly cut: () => void;
	/** Connects the cable again, and returns when packets can pass. */
	readonly mend: () => Promise<void>;
	/** Kills every process on that machine and removes the machine. */
	readonly remove: () => void;
};

const ip = (...words: readonly string[]): string => execFileSync('ip', words, {encoding: 'utf8'});

/** Whether this process can create network namespaces, which needs root. Prints a message if it cannot. */
export function canHaveNetwork(): boolean {
	const {status, stderr, error} = spawnSync('unshare', ['--net', 'ip', 'link'], {encoding: 'utf8'});
	if (status !== 0) {
		console.warn(`Tests are skipped that need ip and network namespaces: ${(error?.message ?? stderr).trim()}`);
	}

	return status === 0;
}

export function createNetwork(): Network {
	const id = process.pid;
	const name = `chg-${id}`;
	const [near, far] = [`chga${id}`, `chgb${id}`];
	// RFC 2544 reserves these addresses for benchmarks, so no network routes them.
	const prefix = `198.18.${id % 256}`;
	const first = 4 * (Math.floor(id / 256) % 63);
	ip('netns', 'add', name);
	ip('link', 'add', near, 'type', 'veth', 'peer', 'name', far, 'netns', name);
	ip('address', 'add', `${prefix}.${first + 1}/30`, 'dev', near);
	ip('link', 'set', near, 'up');
	ip('-n', name, 'address', 'add', `${prefix}.${first + 2}/30`, 'dev', far);
	ip('-n', name, 'link', 'set', 'lo', 'up');
	ip('-n', name, 'link', 'set', far, 'up');
	return {
		address: `${prefix}.${first + 2}`,
		entrance: ['ip', 'netns', 'exec', name],
		cut() {
			ip('-n', name, 'link', 'set', far, 'down');
		},
		async mend() {
			ip('-n', name, 'link', 'set', far, 'up');
			await eventually(() => ip('link', 'show', near).includes('state UP'));
			// Linux remembers for a while that the other machine did not answer, and refuses connections to it.
			ip('neighbor', 'flush', 'dev', near);
		},
		remove() {
			for (const pid of ip('netns', 'pids', name).split('\n').filter(Boolean)) {
				try {
					process.kill(Number(pid), 'SIGKILL');
				} catch {
					// The process has ended.
				}
			}

			ip('link', 'delete', near);
			ip('netns', 'delete', name);
		},
	};
}
