/** Runs Slurm's commands without a shell, in the C locale. The commands are found in the user's PATH. */
import process from 'node:process';
import {CanhazgpuError, quoted} from '../../errors.js';
import {withoutSecrets} from '../../host/tool/secrets.js';
import {runTool} from '../../host/tool/spawn.js';
import {readNodes, readPartitions} from './answers/nodes.js';
import {readJobs} from './answers/jobs.js';
import {hasHiddenJobs, type ClusterState} from './snapshot.js';
import {errorOf, missingCommand, oldVersionError} from './refusals.js';

/** Slurm's commands give up on an unreachable controller after about this time. */
const patienceMs = 15_000;

/** Limit for the output of a command, enough for the JSON of a queue with many thousand jobs. */
const mostBytes = 256 * 1024 * 1024;

export type ClusterConfig = {
	readonly name: string | undefined;
	/** The value of AccountingStorageType, such as `accounting_storage/none`. */
	readonly accountingType: string;
	/** Resources that the database counts, such as `cpu,gres/gpu`. */
	readonly accountingTres: string;
	/** How long the controller remembers an ended job. Undefined if it never forgets one, or if the value cannot be read. */
	readonly minJobAgeSeconds?: number | undefined;
};

export type Cluster = {
	/** Returns the same cluster, bound to a signal. Aborting the signal ends the running commands and rejects their promises. */
	readonly until: (signal: AbortSignal) => Cluster;
	/** Runs a Slurm command and returns its stdout. Throws a CanhazgpuError with Slurm's message, for example `store-unreachable` without an answer. */
	readonly run: (command: string, ...args: readonly string[]) => Promise<string>;
	/** Reads nodes and jobs. Overlapping calls share one read. */
	readonly read: () => Promise<ClusterState>;
	/** Returns the result of the last read if it is not older than `ageMs`. Otherwise, reads again. */
	readonly readSince: (ageMs: number) => Promise<ClusterState>;
	/** Reads the configuration. The result is cached, unless the read failed. */
	readonly config: () => Promise<ClusterConfig>;
	readonly knownConfig: () => ClusterConfig | undefined;
};

/** Removes secrets, which Slurm would copy to nodes. In a job, also removes Slurm's variables except SLURM_CONF, which tie commands to the job. */
export function clusterEnvironment(
	environment: Readonly<Record<string, string | undefined>>,
): Record<string, string | undefined> {
	const rest = withoutSecrets(environment);
	if ((environment['SLURM_JOB_ID'] ?? '') !== '') {
		for (const name of Object.keys(rest)) {
			if (/^S(?:LURM|RUN|ALLOC|BATCH)_/v.test(name) && !name.startsWith('SLURM_CONF')) {
				Reflect.deleteProperty(rest, name);
			}
		}
	}

	return rest;
}

/** Choices that a user can make by variables of srun, such as SLURM_PARTITION. */
const choices = ['ACCOUNT', 'CONSTRAINT', 'PARTITION', 'QOS', 'RESERVATION'] as const;

/** Works like `clusterEnvironment` for salloc or sbatch, which read only variables with their own prefix: adds what srun's variables choose. */
export function submitEnvironment(
	command: 'salloc' | 'sbatch',
	environment: Readonly<Record<string, string | undefined>>,
): Record<string, string | undefined> {
	const result = clusterEnvironment(environment);
	for (const choice of choices) {
		result[`${command.toUpperCase()}_${choice}`] ??= result[`SLURM_${choice}`];
	}

	return result;
}

const configValue = (text: string, name: string): string | undefined => {
	const value = new RegExp(String.raw`^${name}\s*= (.*)$`, 'mv').exec(text)?.[1]?.trim();
	return ['', '(null)'].includes(value ?? '') ? undefined : value;
};

export async function runSlurm(
	command: string,
	args: readonly string[],
	{
		environment,
		signal,
	}: {readonly environment: Readonly<Record<string, string | undefined>>; readonly signal?: AbortSignal | undefined},
): Promise<string> {
	const outcome = await runTool(command, args, {timeoutMs: patienceMs, maxBytes: mostBytes, signal, environment});
	if (['not-found', 'not-executable'].includes(outcome.failure ?? '')) {
		throw missingCommand(command);
	}

	if (outcome.failure === 'timed-out' && outcome.stderr.trim() !== '') {
		// If munge is not running, the tool retries until the time limit, and reports each failure on stderr.
		throw errorOf(command, outcome.stderr);
	}

	if (outcome.detail?.includes('E2BIG') === true) {
		throw new CanhazgpuError('usage', `The command is too long for ${command}`, {
			hint: 'Put it into a script, and run the script. Linux limits an argument to 128 KiB.',
		});
	}

	if (outcome.failure !== undefined) {
		throw outcome.failure === 'timed-out'
			? new CanhazgpuError('store-unreachable', "Munge or Slurm's controller does not answer", {
					hint: `${command} did not finish within ${patienceMs / 1000} seconds. Check whether munged is running here (munge -n | unmunge), and the controller (scontrol ping).`,
					details: {isTimeout: true},
				})
			: new CanhazgpuError('store-unreachable', `${command} could not be run: ${outcome.detail ?? outcome.failure}`, {
					hint: 'Check whether a command of Slurm works without canhazgpu: scontrol ping',
				});
	}

	if (outcome.exitCode !== 0) {
		throw errorOf(command, outcome.stderr);
	}

	return outcome.stdout;
}

export function createCluster(monotonicMs: () => number, signal?: AbortSignal): Cluster {
	const run: Cluster['run'] = async (command, ...args) =>
		runSlurm(command, args, {
			signal,
			environment: {
				...clusterEnvironment(process.env),
				LC_ALL: 'C',
				// Makes sacct print times in seconds. Its other formats have no time zone.
				...(command === 'sacct' && {SLURM_TIME_FORMAT: '%s'}),
				// Makes squeue list all pending tasks of an array. By default, it cuts off the list after 64 characters.
				...(command === 'squeue' && {SLURM_BITSTR_LEN: '0'}),
			},
		});

	/** Reads nodes before jobs. Otherwise, the resources of a job that starts in between would be attributed to a hidden job. */
	const readOnce = async (): Promise<ClusterState> => {
		const [nodesText, partitionsText] = await Promise.all([
			run('scontrol', '--all', 'show', 'node', '--details', '--oneliner'),
			run('scontrol', '--all', 'show', 'partition', '--oneliner'),
		]);
		const nodes = readNodes(nodesText, readPartitions(partitionsText));
		let text: string;
		try {
			text = await run('squeue', '--json');
		} catch (error) {
			throw oldVersionError(error) ?? error;
		}

		return {nodes, jobs: readJobs(text), now: Date.now() / 1000, readAtMs: monotonicMs()};
	};

	const readAgreeing = async (): Promise<ClusterState> => {
		const state = await readOnce();
		// A job that ended between the two answers looks hidden, but only in this read. A hidden job looks hidden in the next read, too.
		return hasHiddenJobs(state) ? readOnce() : state;
	};

	let reading: Promise<ClusterState> | undefined;
	let last: ClusterState | undefined;

	const read = async (): Promise<ClusterState> => {
		reading ??= (async () => {
			try {
				last = await readAgreeing();
				return last;
			} finally {
				reading = undefined;
			}
		})();
		return reading;
	};

	let known: ClusterConfig | undefined;
	return {
		until: (other) => createCluster(monotonicMs, other),
		run,
		read,
		readSince: async (ageMs) => (last !== undefined && monotonicMs() - last.readAtMs < ageMs ? last : read()),
		async config() {
			if (known === undefined) {
				const text = await run('scontrol', 'show', 'config');
				const [minJobAge = '0'] = configValue(text, 'MinJobAge')?.split(' ', 1) ?? [];
				known = {
					name: configValue(text, 'ClusterName'),
					accountingType: configValue(text, 'AccountingStorageType') ?? '',
					accountingTres: configValue(text, 'AccountingStorageTRES') ?? '',
					minJobAgeSeconds: Number(minJobAge) > 0 ? Number(minJobAge) : undefined,
				};
			}

			return known;
		},
		knownConfig: () => known,
	};
}

export const clusterText = (config: ClusterConfig | undefined): string =>
	config?.name === undefined ? 'Slurm' : `Slurm, cluster ${quoted(config.name).slice(1, -1)}`;
