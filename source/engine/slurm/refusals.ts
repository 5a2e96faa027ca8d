/** Converts Slurm's errors to errors of this program, and refuses what Slurm does not support. Pure. */
import {CanhazgpuError, quoted, type ErrorCode} from '../../errors.js';
import type {AcquireRequest} from '../../core/rules/request/request.js';
import type {LocalCommand, Wish} from '../../core/operations/engine.js';

type Meaning = {
	/** The command that prints the message. Absent if any command can. */
	readonly command?: string;
	readonly pattern: RegExp;
	readonly code: ErrorCode;
	readonly message?: string;
	readonly hint?: string;
};

/** The message if Slurm grants no GPUs now. Mentions no numbers, because free GPUs can be on several nodes or reserved for earlier jobs. */
const noneNow = 'No node has enough free GPUs, or other jobs come first';

const whoHasThem = 'See who has them: canhazgpu status. See who is waiting: canhazgpu queue';
const waitHint = `To wait for them, leave out --nonblock, or give --wait more time. ${whoHasThem}`;

export const noneNowError = (): CanhazgpuError => new CanhazgpuError('unavailable', noneNow, {hint: waitHint});

/** Returns the error for GPUs that were not free in time. `isLater` means that the job may have waited for its start time. */
export const noneInTimeError = (isLater: boolean): CanhazgpuError =>
	isLater
		? new CanhazgpuError(
				'unavailable',
				'The job may not begin yet (see --after and --begin), or no node has enough free GPUs',
				{hint: whoHasThem},
			)
		: new CanhazgpuError('unavailable', 'Slurm does not start the command now', {
				hint: `Its message is above. ${whoHasThem}`,
			});

const outOfService = 'The nodes that fit this request are down, drained or reserved';
const outOfServiceHint = 'To wait for them, leave out --nonblock. To see why: canhazgpu status';

export const outOfServiceError = (): CanhazgpuError =>
	new CanhazgpuError('unavailable', outOfService, {hint: outOfServiceHint});

const away = 'See whether the controller runs: scontrol ping';

const partitionHint =
	'See the partitions: sinfo. SLURM_PARTITION names the one to use, unless SALLOC_PARTITION (for reserve) or SBATCH_PARTITION (for --detach) is set.';

/** Slurm's messages, from src/common/slurm_errno.c, and their meanings. The first match is used. */
const meanings: readonly Meaning[] = [
	{
		pattern: /munge|authentication credential|protocol authentication/iv,
		code: 'store-unreachable',
		message: 'Slurm cannot prove to its controller who you are, because munge does not answer',
		hint: 'See whether munged runs here: munge -n | unmunge',
	},
	{
		pattern: /could not establish a configuration|unable to (?:establish|process) configuration/iv,
		code: 'store-unreachable',
		message: 'Slurm cannot find a readable configuration on this machine',
		hint: 'Check SLURM_CONF, or else /etc/slurm/slurm.conf. If there is no cluster: --engine local',
	},
	{
		command: 'sacct',
		pattern: /persistent connection|persistinit|slurmdbd|connection refused|problem talking to the database/iv,
		code: 'store-unreachable',
		message: 'The database of Slurm does not answer',
		hint: 'See whether slurmdbd runs: sacctmgr show cluster',
	},
	{
		pattern:
			/unable to contact slurm controller|socket timed out|zero bytes were transmitted|connection refused|unable to establish controller/iv,
		code: 'store-unreachable',
		message: "Slurm's controller does not answer",
		hint: away,
	},
	{
		pattern: /invalid partition/iv,
		code: 'usage',
		message: 'There is no such partition',
		hint: partitionHint,
	},
	{
		pattern: /invalid account/iv,
		code: 'usage',
		hint: 'SLURM_ACCOUNT names the account to use, unless SALLOC_ACCOUNT (for reserve) or SBATCH_ACCOUNT (for --detach) is set.',
	},
	{
		pattern: /invalid qos/iv,
		code: 'usage',
		hint: 'SLURM_QOS names the QOS to use, unless SALLOC_QOS (for reserve) or SBATCH_QOS (for --detach) is set.',
	},
	{
		pattern: /not permitted to use this partition/iv,
		code: 'usage',
		hint: partitionHint,
	},
	{
		pattern: /violates accounting\/qos policy/iv,
		code: 'failed',
		hint: 'See the limits: sacctmgr show assoc tree, sacctmgr show qos',
	},
	{
		pattern: /requested partition configuration not available/iv,
		code: 'unavailable',
		message: 'The partition does not allow this much time or this many nodes',
		hint: 'See its limits: sinfo, scontrol show partition. To use another one: SLURM_PARTITION.',
	},
	{
		pattern:
			/requested node configuration is not available|invalid generic resource|node count specification invalid|more processors requested/iv,
		code: 'impossible',
		message: 'No node of this cluster fits this request',
		hint: 'See what the nodes have: canhazgpu status',
	},
	{
		pattern: /invalid node name|requested nodes? (?:list )?(?:is|are) not in this partition/iv,
		code: 'usage',
		message: 'There is no such node in this partition',
		hint: 'See the nodes: canhazgpu status',
	},
	{
		pattern: /requested time limit is invalid/iv,
		code: 'impossible',
		hint: 'See the longest time of a partition: sinfo',
	},
	{
		pattern: /requested nodes are busy|immediate execution impossible|allocate resources: connection timed out/iv,
		code: 'unavailable',
		message: noneNow,
		hint: waitHint,
	},
	{
		pattern: /required nodes? not available/iv,
		code: 'unavailable',
		message: outOfService,
		hint: outOfServiceHint,
	},
	{
		pattern: /partition in down state/iv,
		code: 'unavailable',
		message: 'The partition is down',
		hint: 'To wait for it, leave out --nonblock. See which are up: sinfo',
	},
	{
		pattern: /required partition not available/iv,
		code: 'failed',
		message: 'The partition does not accept jobs now',
		hint: 'See its state: sinfo. To use another one: SLURM_PARTITION.',
	},
	{command: 'salloc', pattern: /already completing or completed/iv, code: 'not-found'},
	{
		pattern: /access\/permission denied/iv,
		code: 'not-owner',
		hint: 'Only the owner of the job or an administrator can do that.',
	},
	{pattern: /invalid job id/iv, code: 'not-found', hint: 'It has ended, or never existed.'},
];

const usefulLine = (stderr: string): string =>
	stderr
		.split('\n')
		.map((line) => line.replace(/^(?:\w+: )?(?:error: )?/v, '').trim())
		.findLast((line) => line !== '') ?? '';

export function errorOf(command: string, stderr: string): CanhazgpuError {
	const said = quoted(usefulLine(stderr)).slice(1, -1);
	const meaning = meanings.find(({command: only = command, pattern}) => only === command && pattern.test(stderr));
	if (meaning === undefined) {
		return new CanhazgpuError('failed', `${command} failed${said === '' ? '' : `: ${said}`}`);
	}

	const {code, message = `Slurm refuses: ${said}`, hint} = meaning;
	return new CanhazgpuError(code, message, {hint, details: {said}});
}

export const missingCommand = (command: string, cause?: unknown): CanhazgpuError =>
	new CanhazgpuError('store-unreachable', `Slurm's command ${command} is not in PATH`, {
		hint: 'Install the commands of Slurm (Debian: slurm-client), or choose another engine: --engine local',
		cause,
	});

/** Returns an error for a command without `--json`, or undefined for other failures. */
export function oldVersionError(error: unknown): CanhazgpuError | undefined {
	return error instanceof CanhazgpuError && /unrecognized option|invalid option/iv.test(error.message)
		? new CanhazgpuError('store-unreachable', 'This Slurm is too old: squeue has no --json', {
				hint: 'Slurm 21.08 or newer is needed. See: squeue --version',
			})
		: undefined;
}

const localCommands: Readonly<Record<LocalCommand, {readonly message: string; readonly hint: string}>> = {
	adopt: {
		message: 'Slurm cannot take over a process that is already running',
		hint: 'Start it again with GPUs of its own: canhazgpu run --gpus N -- COMMAND',
	},
	drain: {
		message: 'Slurm takes whole nodes out of service, not single GPUs',
		hint: 'To drain the whole node: scontrol update NodeName=NODE State=DRAIN Reason=TEXT. To remove one GPU: delete it from gres.conf on that node, then scontrol reconfigure.',
	},
	policy: {
		message: "With Slurm, the rules for everybody are in Slurm's own configuration",
		hint: 'See it: scontrol show config, scontrol show partition',
	},
	undo: {
		message: 'On Slurm, a release cannot be undone',
		hint: 'Reserve again: canhazgpu reserve --gpus N',
	},
	who: {
		message: 'The GPUs of a cluster are on its nodes, so their processes cannot be inspected from here',
		hint: 'On the node itself: canhazgpu who GPU --engine local',
	},
	pool: {
		message: 'Slurm manages the GPUs of this cluster, so there is no pool to create',
		hint: 'For a pool of this machine alone: canhazgpu admin --engine local',
	},
};

export const refusalOf = (command: LocalCommand): CanhazgpuError =>
	new CanhazgpuError('failed', localCommands[command].message, {hint: localCommands[command].hint});

type Inexpressible = {
	/** Absent if only the combination or the form is unsupported. */
	readonly wish?: Wish;
	readonly isAsked: (request: AcquireRequest, hasShardSize: boolean) => boolean;
	readonly flag: string;
	readonly why: string;
	readonly hint: string;
};

/** The unsupported parts of requests, in order of importance, because only the first one is reported. */
const inexpressible: readonly Inexpressible[] = [
	{
		wish: 'ids',
		isAsked: ({ids}) => ids !== undefined,
		flag: '--gpu-ids',
		why: 'Slurm chooses the GPUs itself',
		hint: 'Say how many: --gpus N. A node can be named: --on NODE',
	},
	{
		wish: 'label',
		isAsked: ({requester}) => requester.label !== requester.account,
		flag: '--user',
		why: 'Slurm knows only accounts',
		hint: 'Write the name into the note: --note TEXT',
	},
	{
		wish: 'strategy',
		isAsked: ({strategy}) => strategy !== undefined,
		flag: '--strategy',
		why: 'slurm.conf says which GPUs are taken first',
		hint: 'Leave it out.',
	},
	{
		wish: 'force',
		isAsked: ({force}) => force === true,
		flag: '--force',
		why: 'only Slurm can grant a GPU',
		hint: 'Leave it out.',
	},
	{
		wish: 'min-memory',
		isAsked: ({need = {}}) => need.minMemoryMiB !== undefined,
		flag: '--min-memory',
		why: 'Slurm does not know the memory of GPUs',
		hint: 'Name a model instead: --model NAME',
	},
	{
		wish: 'min-compute',
		isAsked: ({need = {}}) => need.minCompute !== undefined,
		flag: '--min-compute',
		why: 'Slurm does not know the compute capability of GPUs',
		hint: 'Name a model instead: --model NAME',
	},
	{
		wish: 'nvlink',
		isAsked: ({need = {}}) => need.nvlink === true,
		flag: '--nvlink',
		why: 'Slurm does not know how GPUs are linked',
		hint: 'Name a model instead: --model NAME',
	},
	{
		wish: 'same-model',
		isAsked: ({need = {}}) => need.sameModel === true,
		flag: '--same-model',
		why: 'Slurm can grant GPUs of different models',
		hint: 'Name the model: --model NAME',
	},
	{
		isAsked: ({need = {}}) => need.mig !== undefined && 'instances' in need.mig,
		flag: '--gpu-ids',
		why: 'Slurm chooses the instances itself',
		hint: 'Name a profile: --mig 1g.10gb',
	},
	{
		isAsked: ({need = {}}) => need.mig !== undefined && need.models !== undefined,
		flag: '--mig with --model',
		why: 'a job can name only one GPU type',
		hint: 'Leave out --model.',
	},
	{
		wish: 'share',
		isAsked: ({need = {}}, hasShardSize) => need.shareMiB !== undefined && !hasShardSize,
		flag: '--share',
		why: 'a Slurm shard is a part of a GPU that has no memory size',
		hint: 'In the configuration, set slurm.shard-memory to the memory of one shard. Or ask Slurm itself: srun --gres=shard:N',
	},
	{
		isAsked: ({count, need = {}}) => need.shareMiB !== undefined && count > 1,
		flag: '--share of several GPUs',
		why: 'all shards of a job are on the same GPU',
		hint: 'Ask for one: leave out --gpus',
	},
	{
		isAsked: ({need = {}}) => need.shareMiB !== undefined && need.models !== undefined,
		flag: '--share with --model',
		why: 'a shard has no type',
		hint: 'Leave out --model.',
	},
	{
		isAsked: ({need = {}}) => (need.models?.length ?? 0) > 1,
		flag: '--model with several names',
		why: 'a job can name only one GPU type',
		hint: 'Name one of them.',
	},
];

export const lacksOf = (hasShardSize: boolean): ReadonlySet<Wish> =>
	new Set([
		...inexpressible.flatMap(({wish}) => (wish === undefined || (wish === 'share' && hasShardSize) ? [] : [wish])),
		'partial-release',
	]);

/** Throws `usage` for the first part of a request that Slurm does not support. `hasShardSize` means that the size of a shard is configured. */
export function checkExpressible(request: AcquireRequest, hasShardSize: boolean): void {
	const asked = inexpressible.find(({isAsked}) => isAsked(request, hasShardSize));
	if (asked !== undefined) {
		throw new CanhazgpuError('usage', `${asked.flag} cannot be used with Slurm: ${asked.why}`, {hint: asked.hint});
	}
}
