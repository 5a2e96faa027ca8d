/** The accounting database of a test Slurm cluster: slurmdbd and MariaDB from Debian. Each is unpacked if it is not installed. */
import {execFileSync} from 'node:child_process';
import {existsSync, globSync, mkdirSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import {fileURLToPath} from 'node:url';
import {ensureProgram, unpackPackage} from '../packages/apt.js';

const cache = fileURLToPath(new URL('../../../node_modules/.cache/', import.meta.url));

type Program = {
	readonly command: string;
	/** The environment, in which the library path names the unpacked libraries. */
	readonly environment: NodeJS.ProcessEnv;
	/** The directory that the program uses as its root: `/`, or where the package was unpacked. */
	readonly root: string;
};

/** Finds or unpacks a program. `wanted` names the dependencies of its package that the machine may lack. */
const findProgram = (name: string, file: string, wanted: RegExp): Program =>
	ensureProgram(
		{name, install: `apt-get install ${name}`},
		(): Program | undefined => {
			const unpacked = path.join(cache, name);
			const root = ['/', unpacked].find((each) => existsSync(path.join(each, file)));
			return root === undefined
				? undefined
				: {
						command: path.join(root, file),
						root,
						environment:
							root === '/'
								? process.env
								: {...process.env, LD_LIBRARY_PATH: globSync(`${unpacked}/usr/lib/*-linux-*`).join(':')},
					};
		},
		[
			() => {
				unpackPackage(name, path.join(cache, name), wanted);
			},
		],
	);

export type AccountsOptions = {
	readonly directory: string;
	readonly mungeSocket: string;
	readonly databasePort: number;
	readonly port: number;
};

/** A program that runs in the foreground and is killed by its pid. */
export type AccountsDaemon = {
	readonly words: readonly [string, ...(readonly string[])];
	readonly environment: NodeJS.ProcessEnv;
};

/** Creates an empty database, and returns how to start its two daemons, in order. */
export function prepareAccounts({directory, mungeSocket, databasePort, port}: AccountsOptions): {
	/** Lines of slurm.conf. */
	readonly configuration: readonly string[];
	readonly mariadbd: AccountsDaemon;
	readonly slurmdbd: AccountsDaemon;
} {
	const database = findProgram(
		'mariadb-server',
		'usr/sbin/mariadbd',
		/^(?:mariadb-(?:server|server-core|client|client-core|common)|libaio1\w*|libnuma1|liburing2|libmariadb3)$/v,
	);
	const daemon = findProgram('slurmdbd', 'usr/sbin/slurmdbd', /^(?:slurmdbd|slurm-wlm-mysql-plugin|libmariadb3)$/v);
	const file = (name: string): string => path.join(directory, name);
	mkdirSync(file('database'), {mode: 0o700});
	execFileSync(
		path.join(database.root, 'usr/bin/mariadb-install-db'),
		[
			'--no-defaults',
			`--basedir=${path.join(database.root, 'usr')}`,
			`--datadir=${file('database')}`,
			'--auth-root-authentication-method=normal',
			'--skip-test-db',
			'--user=root',
		],
		{env: database.environment, stdio: 'ignore', timeout: 120_000},
	);
	// The client accepts one statement per line.
	writeFileSync(file('users.sql'), "CREATE USER slurm@'127.0.0.1';\nGRANT ALL ON *.* TO slurm@'127.0.0.1';\n");
	const plugins = [...new Set(['/', daemon.root])].flatMap((root) =>
		globSync(path.join(root, 'usr/lib/*-linux-*/slurm-wlm')),
	);
	writeFileSync(
		file('slurmdbd.conf'),
		[
			'AuthType=auth/munge',
			`AuthInfo=socket=${mungeSocket}`,
			'DbdHost=localhost',
			`DbdPort=${port}`,
			'SlurmUser=root',
			'StorageType=accounting_storage/mysql',
			'StorageHost=127.0.0.1',
			`StoragePort=${databasePort}`,
			'StorageUser=slurm',
			'StorageLoc=slurm_accounts',
			`PluginDir=${plugins.join(':')}`,
			`LogFile=${file('slurmdbd.log')}`,
			`PidFile=${file('slurmdbd.pid')}`,
			'',
		].join('\n'),
		{mode: 0o600},
	);
	return {
		configuration: [
			'AccountingStorageType=accounting_storage/slurmdbd',
			'AccountingStorageHost=127.0.0.1',
			`AccountingStoragePort=${port}`,
			`AccountingStoragePass=${mungeSocket}`,
			'AccountingStorageTRES=gres/gpu',
		],
		mariadbd: {
			words: [
				database.command,
				'--no-defaults',
				`--basedir=${path.join(database.root, 'usr')}`,
				`--datadir=${file('database')}`,
				`--socket=${file('database.socket')}`,
				`--init-file=${file('users.sql')}`,
				'--bind-address=127.0.0.1',
				`--port=${databasePort}`,
				'--skip-name-resolve',
				'--user=root',
				'--innodb-buffer-pool-size=32M',
			],
			environment: database.environment,
		},
		slurmdbd: {words: [daemon.command, '-D'], environment: daemon.environment},
	};
}
