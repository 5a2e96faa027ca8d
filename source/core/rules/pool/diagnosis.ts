/** The findings of `doctor`. Each fact is checked separately, and each problem comes with a fix. Unknown facts are skipped. */
import {accountName, doubtAbout} from '../leases/ownership.js';
import type {Account, Store, StoreCondition} from '../../model/ports.js';
import type {GpuReading, Observation, Pool, Snapshot} from '../../model/types.js';
import {idleRulesOf} from '../policy/idle-rules.js';
import {policyDoubtOf, policyRows, policyValue, unreadablePolicy, type StoredPolicy} from '../policy/policy.js';
import {judgeUsage, wordsOnce} from '../usage/gpu-usage.js';

export type Finding = {
	readonly check:
		| 'store'
		| 'pool'
		| 'provider'
		| 'gpus'
		| 'permissions'
		| 'isolation'
		| 'clock'
		| 'versions'
		| 'environment'
		| 'notify';
	readonly level: 'ok' | 'warning' | 'error';
	readonly words: string;
	readonly fix?: string;
};

const finding = (check: Finding['check'], level: Finding['level'], words: string, fix?: string): Finding => ({
	check,
	level,
	words,
	fix,
});

const when = (isSo: boolean, ...of: Parameters<typeof finding>): readonly Finding[] => (isSo ? [finding(...of)] : []);

export function judgeStore(
	{location, shell}: Pick<Store, 'location' | 'shell'>,
	roundTripMs: number,
	{isDurable, evicts, isPasswordUnneeded, damage, lacksPermissions}: StoreCondition,
): readonly Finding[] {
	const words = `${location} answers in ${Math.max(1, Math.round(roundTripMs))} ms`;
	return [
		roundTripMs > 100
			? finding(
					'store',
					'warning',
					words,
					'Every command makes several round trips. Use a closer store, or find out what keeps it busy.',
				)
			: finding('store', 'ok', words),
		// Checked because a GPU can be granted twice if the store loses or evicts data.
		...when(
			isDurable === false,
			'store',
			'warning',
			'appendonly is off: a crash of Redis would lose the newest reservations',
			`Turn it on: ${shell} config set appendonly yes, and set the same in redis.conf`,
		),
		...when(
			evicts === true,
			'store',
			'warning',
			'When its memory is full, Redis deletes keys, including reservations',
			`Prevent that: ${shell} config set maxmemory-policy noeviction, and set the same in redis.conf`,
		),
		...when(
			isPasswordUnneeded === true,
			'store',
			'warning',
			'Redis does not require the configured password',
			'Set that password in redis.conf (requirepass), or remove redis.password, redis.password_file and redis.username from the settings.',
		),
		...when(
			damage !== undefined,
			'store',
			'error',
			`The database is damaged: ${damage}`,
			'Move the file away, with its -wal, and create the pool again: canhazgpu admin --store embedded. Jobs, waiting requests and monitors that are still running then restore what they know.',
		),
		...when(
			lacksPermissions === true,
			'permissions',
			'error',
			`The permissions of ${location} keep other accounts out`,
			'Let them use it again, with all its reservations: sudo canhazgpu admin --store embedded (only for a group: add --group NAME)',
		),
	];
}

export function judgeAccount(account: Account): readonly Finding[] {
	const fix = doubtAbout(account);
	const {outsideName} = account;
	return outsideName === undefined
		? when(
				fix !== undefined,
				'permissions',
				'warning',
				`the pool knows this account only as ${accountName(account)}`,
				fix,
			)
		: [finding('permissions', 'ok', `the pool recognizes this account as ${outsideName}, whose job runs here`)];
}

/** Reports a part of the program that other users cannot read, for example after an npm installation with a strict umask. */
export const judgeProgram = ({part, directory}: {readonly part: string; readonly directory: string}): Finding =>
	finding(
		'permissions',
		'warning',
		`Other accounts cannot run this program, because they cannot read ${part}`,
		part === directory || part.startsWith(`${directory}/`)
			? `chmod -R go+rX ${directory}`
			: 'Install a copy for everybody: canhazgpu help setup',
	);

/** `file` is the config file of the machine, if other accounts cannot read it. */
export const judgeMachineConfig = (file: string): Finding =>
	finding(
		'permissions',
		'error',
		`Other accounts cannot read ${file}, so every command of theirs fails`,
		`Let everybody read it: chmod 644 ${file}. Settings that only root may know belong in /etc/canhazgpu.root.yaml`,
	);

const moveAway = (shell: string, key: string, to = `${key}.damaged`): string =>
	`Move it out of the way: ${shell} RENAME ${key} ${to}`;

/** Describes an unreadable record of drains and how to fix it. A record that is not a string must be moved by hand: no commit can replace it. */
export const unreadableDrains = (
	problem: string,
	stored: string | undefined,
	shell: string,
): {readonly words: string; readonly fix: string} => ({
	words: `The record of drained GPUs cannot be read: ${problem}`,
	fix:
		stored === undefined
			? moveAway(shell, 'canhazgpu:drain')
			: 'An administrator can return the others to service: canhazgpu admin --undrain IDS. See what was drained: canhazgpu events',
});

const removeRecord = (index: number, {kind, shell}: Pick<Store, 'kind' | 'shell'>): string =>
	kind === 'redis'
		? moveAway(shell, `canhazgpu:gpu:${index}`, `canhazgpu:damaged:${index}`)
		: // Sqlite3 deletes the journal of the pool when it ends, and without a journal nobody but its owner can open the pool.
			`Remove that record alone, as its owner: ${shell} "DELETE FROM gpus WHERE gpu = ${index}" && canhazgpu status`;

/** Reports the policy, and any part of it that is not in effect. Keys of later versions are harmless. */
export const judgePolicy = (snapshot: Snapshot, shell: string): readonly Finding[] => {
	const {policyProblem, stored} = snapshot;
	if (policyProblem !== undefined) {
		const {words, fix} = unreadablePolicy(policyProblem, stored.policy, shell);
		const {effects} = policyDoubtOf(snapshot)!;
		return [finding('store', 'error', `${words}. Meanwhile: ${effects.join('; ')}`, fix)];
	}

	const set = policyRows(snapshot).filter(({setting, fallback}) => setting !== undefined && fallback !== undefined);
	const holding = set.filter(({problem}) => problem === undefined).map(({key, value}) => `${key}=${value}`);
	// `admin --force` keeps the policy, also for a pool with fewer GPUs.
	const sharable = policyValue(snapshot, 'share.gpus');
	const missing = sharable === 'all' ? [] : sharable.filter((id) => id >= snapshot.gpus.length);
	return [
		...when(holding.length > 0, 'pool', 'ok', `policy: ${holding.join(', ')}`),
		...set.flatMap(({key, problem, effect}) =>
			when(
				problem !== undefined,
				'pool',
				'error',
				`The key ${key} of the policy cannot be read: ${problem}. Meanwhile: ${effect}`,
				`Set it again, or: canhazgpu admin --unset ${key}`,
			),
		),
		...when(
			missing.length > 0,
			'pool',
			'warning',
			`The policy allows sharing of GPUs that the pool does not have: ${missing.join(', ')}`,
			'Set share.gpus again, or allow sharing of all GPUs: canhazgpu admin --unset share.gpus',
		),
	];
};

/** If the policy returns idle GPUs, the last shared scan must not be older than this. */
const longestUnseenSeconds = 300;

/** If the policy returns idle GPUs, reports whether the GPUs are scanned. `scan` is the last shared scan, and `ageSeconds` its age. */
export function judgeKeeping(
	snapshot: StoredPolicy,
	{
		ageSeconds: seenAgo,
		scan,
	}: {readonly ageSeconds?: number; readonly scan?: Pick<Observation, 'failure'> | undefined} = {},
): readonly Finding[] {
	if (idleRulesOf(snapshot) === undefined) {
		return [];
	}

	if (scan?.failure !== undefined && seenAgo !== undefined && seenAgo <= longestUnseenSeconds) {
		return [
			finding(
				'pool',
				'warning',
				`idle.after is set, but the program that watches the GPUs cannot read them, so idle GPUs do not go back: ${scan.failure.message}`,
				'If doctor can read the GPUs, compare the environment of the two programs, such as PATH: systemctl status canhazgpu-keep',
			),
		];
	}

	return seenAgo !== undefined && seenAgo <= longestUnseenSeconds
		? [
				finding(
					'pool',
					'ok',
					`idle GPUs go back to the pool: the last scan was ${Math.max(0, Math.round(seenAgo))} s ago`,
				),
			]
		: [
				finding(
					'pool',
					'warning',
					'idle.after is set, but no monitor, dashboard or canhazgpu keep is watching the GPUs, so idle GPUs may not go back',
					'To watch them all the time: sudo systemctl enable --now canhazgpu-keep, or run canhazgpu keep',
				),
			];
}

export function judgeRecords(
	{gpus, queue, drainProblem, alertsProblem, stored}: Snapshot,
	store: Pick<Store, 'kind' | 'shell'>,
): readonly Finding[] {
	const drains = drainProblem === undefined ? undefined : unreadableDrains(drainProblem, stored.drains, store.shell);
	return [
		...gpus
			.filter((record) => record.kind === 'garbage')
			.map(({index, problem}) =>
				finding(
					'pool',
					'error',
					`The record of GPU ${index} is invalid: ${problem}`,
					`${removeRecord(index, store)}. The GPU is then free. Do not use admin --force, which ends all reservations.`,
				),
			),
		...queue
			.filter((record) => record.kind === 'garbage')
			.map(({id, problem}) =>
				finding(
					'pool',
					'warning',
					`The queue entry ${id} is invalid, so it gets no GPUs: ${problem}`,
					`Remove it: sudo canhazgpu queue --leave ${id}`,
				),
			),
		...(drains === undefined ? [] : [finding('store', 'error', drains.words, drains.fix)]),
		...when(
			alertsProblem !== undefined,
			'store',
			'warning',
			`The record of notices cannot be read, so no new alerts are recorded: ${alertsProblem}`,
			moveAway(store.shell, 'canhazgpu:notices'),
		),
	];
}

const judgeGpu = (gpu: GpuReading): readonly Finding[] => {
	const {index, failure, health = []} = gpu;
	const use = judgeUsage(gpu, 0);
	const problems = wordsOnce([...(failure === undefined ? [] : [failure]), ...health.map(({words}) => words)]);
	const drainHint = `Until that is fixed, the GPU is not granted to anyone. To tell everybody why: canhazgpu admin --drain ${index} --reason TEXT`;
	return [
		...problems.map((words) => finding('gpus', 'error', `GPU ${index}: ${words}`, drainHint)),
		...(use.kind === 'unknown'
			? [finding('gpus', 'warning', `GPU ${index}: ${use.why}`, 'It may be in use, so only --force reserves it.')]
			: []),
	];
};

/** Reports problems of the GPU scan. `pool` is undefined if the pool could not be read. */
export function judgeScan(observation: Observation, pool: Pool | undefined): readonly Finding[] {
	const {gpus, failure, warnings, provider, simulated, driverVersion, isPartial} = observation;
	if (failure !== undefined) {
		return [finding('provider', 'error', failure.message, failure.hint)];
	}

	const driver = driverVersion === undefined ? '' : `, driver ${driverVersion}`;
	const hidden = gpus.filter((gpu) => gpu.failure === undefined && gpu.processes === undefined).map(({index}) => index);
	// In a partial scan, a GPU that is hidden from this process looks like a GPU that failed.
	const unseen =
		isPartial === true
			? gpus.filter((gpu) => gpu.failure !== undefined && gpu.uuid === undefined).map(({index}) => index)
			: [];
	const unowned = gpus.flatMap(({processes = []}) => processes).filter(({user}) => user === undefined);
	return [
		finding('provider', 'ok', `${simulated ? 'simulated' : provider}: ${gpus.length} GPU(s)${driver}`),
		...warnings.map((words) => finding('provider', 'warning', words)),
		...when(
			pool !== undefined && pool.gpuCount !== gpus.length,
			'pool',
			'warning',
			`The pool has ${pool?.gpuCount} GPU(s), but this machine has ${gpus.length}`,
			'Once nobody holds a GPU, create the pool again: canhazgpu admin --force',
		),
		...when(
			unseen.length > 0,
			'gpus',
			'warning',
			`GPU ${unseen.join(', ')} cannot be read from here: an isolated job can open only its own GPUs`,
			'Outside the job, canhazgpu doctor sees all of them.',
		),
		...gpus.filter(({index}) => !unseen.includes(index)).flatMap((gpu) => judgeGpu(gpu)),
		...when(
			hidden.length > 0,
			'permissions',
			'warning',
			`The processes on GPU ${hidden.join(', ')} cannot be seen`,
			'In a container, share the pid namespace of the host (docker run --pid=host). Otherwise run the GPU tool as root, to see what it says.',
		),
		...when(
			unowned.length > 0,
			'permissions',
			'warning',
			`${unowned.length} process(es) have an unknown owner`,
			'If /proc is mounted with hidepid, join the group that its mount option gid= names, or run canhazgpu as root.',
		),
	];
}

/** Reports a difference between the clocks, because reservations end by the store's clock, but their ends are shown by the local clock. */
export function judgeClock(storeSeconds: number, ownSeconds: number, roundTripMs: number): Finding {
	const difference = Math.abs(storeSeconds - ownSeconds);
	return difference > 2 + roundTripMs / 1000
		? finding(
				'clock',
				'warning',
				`The clocks of this machine and of the store differ by ${Math.round(difference)} s`,
				'Synchronize both with a time server: timedatectl set-ntp true',
			)
		: finding('clock', 'ok', 'agrees with the clock of the store');
}

/** The oldest version of Redis with streams, which the audit log needs. */
const oldestRedis = 5;

export function judgeVersions(program: string, runtime: string, store: string | undefined): readonly Finding[] {
	return [
		finding('versions', 'ok', [`canhazgpu ${program}`, runtime, store].filter(Boolean).join(', ')),
		...when(
			store?.startsWith('Redis ') === true && Number(store.slice(6).split('.', 1)[0]) < oldestRedis,
			'versions',
			'warning',
			`${store} keeps no audit log: canhazgpu events shows nothing`,
			`Use Redis ${oldestRedis} or newer.`,
		),
	];
}
