/** Real OpenSSH servers on ports of 127.0.0.1. A login to one of them has the home and the environment of one box. */
import {execFileSync, spawn} from 'node:child_process';
import {once} from 'node:events';
import {chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync} from 'node:fs';
import {createServer, type AddressInfo} from 'node:net';
import path from 'node:path';
import process from 'node:process';
import {userInfo} from 'node:os';
import {eventually} from '../eventually.js';
import type {Box} from '../program/cli.js';
import {installPackage} from '../packages/apt.js';
import {loginEnvironment} from './stub-ssh.js';

const sshd = '/usr/sbin/sshd';

/** Makes sure that OpenSSH is installed. Throws if it cannot be installed, so that the tests that need it fail and are not skipped. */
export function ensureSshServer(): void {
	if (!existsSync(sshd)) {
		installPackage('openssh-server');
	}

	// The directory for privilege separation, which systemd normally creates.
	mkdirSync('/run/sshd', {recursive: true, mode: 0o755});
}

export async function freePort(): Promise<number> {
	const server = createServer().listen(0, '127.0.0.1');
	await once(server, 'listening');
	const {port} = server.address() as AddressInfo;
	server.close();
	return port;
}

export type SshServers = {
	/** A directory for PATH with an `ssh` that connects to the servers by the names of their boxes. */
	readonly directory: string;
	/** Kills one server and its connections, as if the host was switched off. */
	readonly stop: (name: string) => Promise<void>;
	readonly stopAll: () => Promise<void>;
};

type Options = {
	/** The address on which the servers listen. */
	readonly address?: string;
	/** A command prefix that starts each server. */
	readonly entrance?: readonly string[];
};

/** Starts one server for each box. `directory` contains keys and configurations. */
export async function startSshServers(
	directory: string,
	boxes: Readonly<Record<string, Box>>,
	{address = '127.0.0.1', entrance = []}: Options = {},
): Promise<SshServers> {
	ensureSshServer();
	mkdirSync(directory, {recursive: true, mode: 0o700});
	const file = (name: string): string => path.join(directory, name);
	for (const key of ['host', 'user']) {
		execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', file(key)]);
	}

	writeFileSync(file('authorized'), readFileSync(file('user.pub')), {mode: 0o600});
	const servers = new Map<string, {readonly pid: number; readonly ended: Promise<unknown>}>();
	const clientLines: string[] = [];
	for (const [name, box] of Object.entries(boxes)) {
		const port = await freePort();
		writeFileSync(
			file(`${name}.conf`),
			[
				`Port ${port}`,
				`ListenAddress ${address}`,
				`HostKey ${file('host')}`,
				`AuthorizedKeysFile ${file('authorized')}`,
				`PidFile ${file(`${name}.pid`)}`,
				'StrictModes no',
				'UsePAM no',
				'PasswordAuthentication no',
				`SetEnv ${loginEnvironment(box)
					.map((entry) => `"${entry}"`)
					.join(' ')}`,
				'',
			].join('\n'),
		);
		const [command, ...words] = [...entrance, sshd, '-D', '-e', '-f', file(`${name}.conf`)];
		const child = spawn(command, words, {stdio: 'ignore', detached: true});
		servers.set(name, {pid: child.pid!, ended: once(child, 'exit')});
		await eventually(() => existsSync(file(`${name}.pid`)));
		clientLines.push(
			`Host ${name}`,
			`HostName ${address}`,
			`Port ${port}`,
			`User ${userInfo().username}`,
			`IdentityFile ${file('user')}`,
			'IdentitiesOnly yes',
			`HostKeyAlias ${name}`,
		);
		writeFileSync(file('known'), `${name} ${readFileSync(file('host.pub'), 'utf8')}`, {flag: 'a'});
	}

	writeFileSync(file('client.conf'), `${clientLines.join('\n')}\nHost *\nUserKnownHostsFile ${file('known')}\n`);
	const bin = file('bin');
	mkdirSync(bin);
	writeFileSync(path.join(bin, 'ssh'), `#!/bin/sh\nexec /usr/bin/ssh -F '${file('client.conf')}' "$@"\n`);
	chmodSync(path.join(bin, 'ssh'), 0o755);
	const stop = async (name: string): Promise<void> => {
		const {pid, ended} = servers.get(name)!;
		servers.delete(name);
		// The sessions of a connection are in its process group, unless they created their own group.
		process.kill(-pid, 'SIGKILL');
		await ended;
	};

	return {
		directory: bin,
		stop,
		async stopAll() {
			await Promise.all(Array.from(servers.keys(), stop));
		},
	};
}
