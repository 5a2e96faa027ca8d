/**
`status` compared with a bare start of Node and the tool alone, alternating: nvidia-smi takes 50 ms, with 8 GPUs and 40 processes. Then 64 GPUs with
500 processes, from the tool's output to the rows.
*/
import {spawn, spawnSync} from 'node:child_process';
import {readFileSync} from 'node:fs';
import {once} from 'node:events';
import {text} from 'node:stream/consumers';
import process from 'node:process';
import {statusRows} from '../../source/core/rules/pool/status.js';
import {createNvidiaProvider} from '../../source/gpu/nvidia/nvidia.js';
import {createProcessDescriber} from '../../source/host/process/details.js';
import {runTool} from '../../source/host/tool/spawn.js';
import {createUsers} from '../../source/host/accounts/users.js';
import {createBox, program} from '../_helpers/program/cli.js';
import {startRedis} from '../_helpers/store/redis-server.js';
import {stubTool} from '../_helpers/machine/stub-tool.js';
import {createTestWorld} from '../_helpers/world.js';
import {median, report, printFigure} from './_helpers/measure.js';
import {answerOf, tables} from './_helpers/nvidia-tables.js';

const rounds = 31;

/** The limit for the rows of 500 processes, in plain reads of /proc. */
const rowsLimit = 3;

/** Milliseconds from the start of a process to its exit. */
function run(command: string, args: readonly string[], environment: Readonly<Record<string, string>>): number {
	const started = performance.now();
	const {status, stderr} = spawnSync(command, args, {env: {...environment}, encoding: 'utf8'});
	const took = performance.now() - started;
	if (status !== 0) {
		throw new Error(`${command} failed: ${stderr}`);
	}

	return took;
}

/** Milliseconds to read two files of each process. */
function readProcesses(pids: readonly number[]): number {
	const started = performance.now();
	for (const pid of pids) {
		readFileSync(`/proc/${pid}/stat`);
		readFileSync(`/proc/${pid}/status`);
	}

	return performance.now() - started;
}

/** Idle processes of one account, which end with their parent. */
function startJobs(count: number, uid: number) {
	const shell = spawn(
		'sh',
		['-c', `for i in $(seq ${count}); do sleep 600 >/dev/null & echo $!; done; exec 1>&-; wait`],
		{
			stdio: ['ignore', 'pipe', 'ignore'],
			detached: true,
			uid,
		},
	);
	return {
		pids: text(shell.stdout).then((lines) => lines.trim().split('\n').map(Number)),
		async end() {
			process.kill(-shell.pid!, 'SIGKILL');
			await once(shell, 'exit');
		},
	};
}

/** Accounts that start the processes: four others if we are root, as on a shared box, and otherwise our own. */
function otherAccounts(): readonly number[] {
	const own = process.getuid!();
	const uids = readFileSync('/etc/passwd', 'utf8')
		.split('\n')
		.map((line) => Number(line.split(':', 3)[2]));
	return own === 0 ? uids.filter((uid) => uid > 0).slice(0, 4) : [own];
}

const redis = await startRedis();
const box = createBox({CANHAZGPU_REDIS_HOST: '127.0.0.1', CANHAZGPU_REDIS_PORT: String(redis.port)});
const accounts = otherAccounts();
const jobs = accounts.map((uid) => startJobs(500 / accounts.length, uid));
const shared = await Promise.all(jobs.map(async ({pids}) => pids));
const pids = shared.flat();
const stub = stubTool(box, 'nvidia-smi', `sleep 0.05\n${answerOf(box.home, {gpuCount: 8, pids: pids.slice(0, 40)})}`);
const environment = {...box.environment, PATH: stub.searchPath};
run(process.execPath, [program, 'admin', '--gpus', '8', '--provider', 'nvidia'], environment);

const figures = {bare: [] as number[], tool: [] as number[], status: [] as number[], version: [] as number[]};
for (let round = -3; round < rounds; round++) {
	const bare = run(process.execPath, ['-e', '0'], environment);
	const tool = run('nvidia-smi', ['--query-gpu=index'], environment);
	const status = run(process.execPath, [program, 'status'], environment);
	const version = run(process.execPath, [program, '--version'], environment);
	if (!(round >= 0)) {
		continue;
	}

	figures.bare.push(bare);
	figures.tool.push(tool);
	figures.status.push(status);
	figures.version.push(version);
}

printFigure('bare start of the runtime, median', median(figures.bare), 'ms');
printFigure('the tool alone, median', median(figures.tool), 'ms');
printFigure('status, median', median(figures.status), 'ms');
// Measured: 4.7 to 5.0 on a quiet machine.
report('status without its tool', (median(figures.status) - median(figures.tool)) / median(figures.bare), {
	limit: 5.5,
	unit: 'bare starts',
});
report('--version', median(figures.version) / median(figures.bare), {limit: 1.6, unit: 'bare starts'});

// The minimum over many rounds, because other load can only add time.
printFigure(
	'status over a bare start and the tool, least of each',
	Math.min(...figures.status) - Math.min(...figures.bare) - Math.min(...figures.tool),
	'ms',
);

const {store} = await createTestWorld({gpuCount: 64});
const snapshot = await store.read();

/** Milliseconds from the tool's output about these processes on 64 GPUs to the rows, for each round. */
async function resolve(jobPids: readonly number[]): Promise<readonly number[]> {
	const large = tables({gpuCount: 64, pids: jobPids});
	const scans: number[] = [];
	for (let round = 0; round < rounds; round++) {
		let answeredAtMs = 0;
		// A new provider each time, so that nothing is known of the processes.
		const provider = createNvidiaProvider({
			async run(command, args, options) {
				if (command !== 'nvidia-smi') {
					return runTool(command, args, options);
				}

				answeredAtMs = performance.now();
				return {stdout: args[0]?.startsWith('--query-gpu') ? large.gpus : large.processes, stderr: '', exitCode: 0};
			},
			describeProcesses: createProcessDescriber({users: createUsers(), run: runTool}),
			monotonicMs: () => performance.now(),
		});
		const rows = statusRows(snapshot, await provider.observe(), 1024);
		scans.push(performance.now() - answeredAtMs);
		if (rows.length !== 64 || rows.flatMap(({processes}) => processes).length !== jobPids.length) {
			throw new Error(
				`The scan is not whole: ${rows.length} rows, ${rows.flatMap(({processes}) => processes ?? ['unknown']).length} of ${jobPids.length} processes`,
			);
		}
	}

	return scans;
}

const scans = await resolve(pids);
const plainReads = Array.from({length: rounds}, () => readProcesses(pids));
printFigure(
	'64 GPUs, 500 processes: a plain read of /proc/PID/stat and status of each, median',
	median(plainReads),
	'ms',
);
printFigure('64 GPUs, 500 processes: from the answers to the rows, median', median(scans), 'ms');
report('64 GPUs, 500 processes: from the answers to the rows', median(scans) / median(plainReads), {
	limit: rowsLimit,
	unit: 'plain reads of /proc',
});
printFigure('64 GPUs, 500 processes: least', Math.min(...scans), 'ms');
// Finding the account behind a process that acts as root costs one more read for each.
const own = startJobs(500, process.getuid!());
printFigure('64 GPUs, 500 processes of our own account, median', median(await resolve(await own.pids)), 'ms');
await Promise.all([...jobs, own].map(async ({end}) => end()));
box.remove();
await redis.stop();
