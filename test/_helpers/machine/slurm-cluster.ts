/** A real Slurm cluster of three nodes in its own directory: munged, slurmctld and three slurmd. Each daemon is killed by its pid. */
import {execFileSync, spawn, type ChildProcess} from 'node:child_process';
import {randomBytes} from 'node:crypto';
import {once} from 'node:events';
import {chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync} from 'node:fs';
import {connect, createServer, type AddressInfo} from 'node:net';
import {hostname, tmpdir} from 'node:os';
import path from 'node:path';
import process from 'node:process';
import {eventually} from '../eventually.js';
import {ensureProgram, installPackage} from '../packages/apt.js';
import {prepareAccounts} from './slurm-accounts.js';

const programs = ['/usr/sbin/munged', '/usr/sbin/slurmctld', '/usr/sbin/slurmd', '/usr/bin/srun'];

export const isSlurmInstalled = (): boolean => programs.every((program) => existsSync(program));

/** Makes sure that Slurm is installed. Throws if it cannot be installed, so that the tests that need it fail and are not skipped. */
export const ensureSlurm = (): true =>
	ensureProgram(
		{name: 'Slurm', install: 'apt-get install slurmctld slurmd slurm-client munge'},
		() => (isSlurmInstalled() ? true : undefined),
		[
			() => {
				for (const name of ['munge', 'slurm-client', 'slurmd', 'slurmctld']) {
					installPackage(name);
				}
			},
		],
	);

async function freePorts(count: number): Promise<readonly number[]> {
	const servers = Array.from({length: count}, () => createServer().listen(0, '127.0.0.1'));
	await Promise.all(servers.map(async (server) => once(server, 'listening')));
	const ports = servers.map((server) => (server.address() as AddressInfo).port);
	for (const server of servers) {
		server.close();
	}

	return ports;
}

type Daemon = 'munged' | 'mariadbd' | 'slurmdbd' | 'slurmctld' | `box${1 | 2 | 3}`;

export const nodes = ['box1', 'box2', 'box3'] as const;
/** The number of GPUs of each node. */
export const gpusOfNode = 4;

export type SlurmCluster = {
	readonly environment: Readonly<Record<string, string>>;
	/** Runs a Slurm command and returns its stdout. */
	readonly run: (command: string, ...args: readonly string[]) => string;
	readonly kill: (daemon: Daemon) => Promise<void>;
	/** Restarts the daemon, and waits until it answers. */
	readonly start: (daemon: Daemon) => Promise<void>;
	/** Waits until the controller has saved its current jobs. Unsaved jobs are lost when the controller is killed. */
	readonly saved: () => Promise<void>;
	/** Cancels all jobs, and waits until all nodes are idle. */
	readonly clear: () => Promise<void>;
	readonly stop: () => Promise<void>;
};

export type SlurmOptions = {
	/** The GPUs of each node, in the syntax of slurm.conf. */
	readonly gres?: string;
	/** `builtin` starts jobs strictly in queue order. */
	readonly scheduler?: 'backfill' | 'builtin';
	/** The time without an answer after which a node is down and its jobs have failed. Slurm pings a node three times in this period. */
	readonly nodeTimeoutSeconds?: number;
	/** Whether ended jobs are kept in the accounting database. */
	readonly hasAccounts?: boolean;
};

/** Whether a process listens on this port. */
const isListening = async (port: number): Promise<boolean> =>
	new Promise((resolve) => {
		const socket = connect({host: '127.0.0.1', port});
		socket.once('connect', () => {
			socket.destroy();
			resolve(true);
		});
		socket.once('error', () => {
			resolve(false);
		});
	});

/** Returns the gres.conf that describes the GPUs of each node. */
function gresConf(gres: string, devices: string): string {
	const type = /gpu:(?<type>[\d.A-Z_]*[a-z][\w.]*):/v.exec(gres)?.groups?.['type'];
	const shards = /shard:(?<count>\d+)/v.exec(gres)?.groups?.['count'];
	return [
		`Name=gpu ${type === undefined ? '' : `Type=${type} `}File=${devices}`,
		...(shards === undefined ? [] : [`Name=shard Count=${shards}`]),
		'',
	].join('\n');
}

export async function startSlurm({
	gres = `gpu:${gpusOfNode}`,
	scheduler = 'backfill',
	nodeTimeoutSeconds = 15,
	hasAccounts = false,
}: SlurmOptions = {}): Promise<SlurmCluster> {
	ensureSlurm();
	const directory = mkdtempSync(path.join(tmpdir(), 'canhazgpu-slurm-'));
	const file = (name: string): string => path.join(directory, name);
	chmodSync(directory, 0o755);
	for (const name of ['munge', 'state', ...nodes]) {
		mkdirSync(file(name), {mode: 0o755});
	}

	writeFileSync(file('munge.key'), randomBytes(1024), {mode: 0o400});
	const [controllerPort, databasePort, accountsPort, ...nodePorts] = await freePorts(6);
	for (let gpu = 0; gpu < gpusOfNode; gpu++) {
		// Slurm accepts only character devices as GPUs, so each GPU is a copy of /dev/null.
		execFileSync('mknod', [file(`gpu${gpu}`), 'c', '1', '3']);
	}

	writeFileSync(file('gres.conf'), gresConf(gres, file(`gpu[0-${gpusOfNode - 1}]`)));
	writeFileSync(file('cgroup.conf'), 'CgroupPlugin=cgroup/v1\n');
	const accounts = hasAccounts
		? prepareAccounts({
				directory,
				mungeSocket: file('munge/socket'),
				databasePort: databasePort!,
				port: accountsPort!,
			})
		: undefined;
	writeFileSync(
		file('slurm.conf'),
		[
			'ClusterName=lab',
			`SlurmctldHost=${hostname()}(127.0.0.1)`,
			'SlurmUser=root',
			'SlurmdUser=root',
			'AuthType=auth/munge',
			'CredType=cred/munge',
			`AuthInfo=socket=${file('munge/socket')}`,
			`SlurmctldPort=${controllerPort}`,
			'ProctrackType=proctrack/linuxproc',
			'TaskPlugin=task/none',
			'SelectType=select/cons_tres',
			'SelectTypeParameters=CR_Core',
			`GresTypes=${gres.includes('shard') ? 'gpu,shard' : 'gpu'}`,
			'JobAcctGatherType=jobacct_gather/none',
			...(accounts?.configuration ?? ['AccountingStorageType=accounting_storage/none']),
			'JobCompType=jobcomp/filetxt',
			`JobCompLoc=${file('completed.log')}`,
			'ReturnToService=2',
			'SlurmdParameters=config_overrides',
			'MpiDefault=none',
			`SchedulerType=sched/${scheduler}`,
			'SchedulerParameters=bf_interval=1,sched_min_interval=100000,batch_sched_delay=0',
			`SlurmdTimeout=${nodeTimeoutSeconds}`,
			'SlurmctldTimeout=5',
			'MessageTimeout=5',
			'KillWait=1',
			`StateSaveLocation=${file('state')}`,
			`SlurmctldPidFile=${file('slurmctld.pid')}`,
			`SlurmctldLogFile=${file('slurmctld.log')}`,
			`SlurmdSpoolDir=${file('%n')}`,
			`SlurmdPidFile=${file('%n.pid')}`,
			`SlurmdLogFile=${file('%n.log')}`,
			...nodes.map(
				(node, index) =>
					`NodeName=${node} NodeHostname=${hostname()} NodeAddr=127.0.0.1 Port=${nodePorts[index]} CPUs=8 RealMemory=2000 Gres=${gres}`,
			),
			`PartitionName=main Nodes=${nodes.join(',')} Default=YES MaxTime=INFINITE State=UP`,
			'',
		].join('\n'),
	);
	const environment = {SLURM_CONF: file('slurm.conf')};
	const run: SlurmCluster['run'] = (command, ...args) =>
		execFileSync(command, args, {
			encoding: 'utf8',
			env: {...process.env, ...environment},
			stdio: ['ignore', 'pipe', 'pipe'],
			timeout: 60_000,
		});

	const words: Readonly<Record<Daemon, readonly [string, ...(readonly string[])]>> = {
		mariadbd: accounts?.mariadbd.words ?? ['false'],
		slurmdbd: accounts?.slurmdbd.words ?? ['false'],
		munged: [
			'/usr/sbin/munged',
			'--foreground',
			'--force',
			`--key-file=${file('munge.key')}`,
			`--socket=${file('munge/socket')}`,
			`--pid-file=${file('munge/pid')}`,
			`--log-file=${file('munge/log')}`,
			`--seed-file=${file('munge/seed')}`,
		],
		slurmctld: ['/usr/sbin/slurmctld', '-D'],
		box1: ['/usr/sbin/slurmd', '-D', '-N', 'box1'],
		box2: ['/usr/sbin/slurmd', '-D', '-N', 'box2'],
		box3: ['/usr/sbin/slurmd', '-D', '-N', 'box3'],
	};
	const answers: Readonly<Record<Exclude<Daemon, (typeof nodes)[number]>, () => boolean | Promise<boolean>>> = {
		munged: () => existsSync(file('munge/socket')),
		mariadbd: async () => isListening(databasePort!),
		slurmdbd: async () => isListening(accountsPort!),
		slurmctld: () => run('scontrol', 'ping').includes('UP'),
	};
	const isNode = (daemon: Daemon): daemon is (typeof nodes)[number] => daemon.startsWith('box');
	const isReady = (daemon: Daemon): boolean | Promise<boolean> =>
		isNode(daemon)
			? /^(?:idle|mixed|allocated) *$/mv.test(run('sinfo', '--noheader', '--nodes', daemon, '--format', '%T'))
			: answers[daemon]();

	const running = new Map<Daemon, {readonly child: ChildProcess; readonly ended: Promise<unknown>}>();
	const start = async (daemon: Daemon): Promise<void> => {
		const [command, ...args] = words[daemon];
		const own = daemon === 'mariadbd' || daemon === 'slurmdbd' ? accounts?.[daemon].environment : process.env;
		// Kills the daemons if the test is aborted.
		const child = spawn('setpriv', ['--pdeathsig', 'KILL', command, ...args], {
			env: {...own, ...environment},
			stdio: 'ignore',
			detached: true,
		});
		running.set(daemon, {child, ended: once(child, 'exit')});
		await eventually(async () => isReady(daemon));
	};

	const kill = async (daemon: Daemon): Promise<void> => {
		const {child, ended} = running.get(daemon)!;
		child.kill('SIGKILL');
		await ended;
		running.delete(daemon);
	};

	const clear = async (): Promise<void> => {
		const jobs = run('squeue', '--noheader', '--format=%F')
			.trim()
			.split('\n')
			.filter((id) => id !== '');
		if (jobs.length > 0) {
			run('scancel', ...jobs);
		}

		await eventually(() => run('squeue', '--noheader') === '');
		await eventually(() => {
			const states = run('sinfo', '--noheader', '--Node', '--format', '%N %T').trim();
			// After a kill, the controller may restore the state that a node had before it was resumed.
			for (const {groups} of states.matchAll(/^(?<node>\S+) +drain/gmv)) {
				run('scontrol', 'update', `NodeName=${groups!['node']!}`, 'State=RESUME');
			}

			return states.split('\n').every((line) => line.endsWith(' idle'));
		});
	};

	const saved = async (): Promise<void> => {
		const since = Date.now();
		await eventually(() => statSync(file('state/job_state')).mtimeMs > since);
	};

	for (const daemon of ['munged', ...(hasAccounts ? (['mariadbd', 'slurmdbd'] as const) : [])] as const) {
		await start(daemon);
	}

	if (hasAccounts) {
		// A controller whose cluster is not registered in the database does not write its jobs there.
		run('sacctmgr', '--immediate', 'add', 'cluster', 'lab');
	}

	for (const daemon of ['slurmctld', ...nodes] as const) {
		await start(daemon);
	}

	return {
		environment,
		run,
		kill,
		start,
		saved,
		clear,
		async stop() {
			await clear().catch(() => undefined);
			await Promise.all(running.keys().map(async (daemon) => kill(daemon)));
			rmSync(directory, {recursive: true, force: true});
		},
	};
}
