/** What `doctor` finds: each fact judged on its own, with the way to fix it. Facts that could not be had are not judged. */
import {accountName, doubtAbout} from '../leases/ownership.js';
import type {Account, Store, StoreCondition} from '../../model/ports.js';
import type {GpuReading, Observation, Pool, Snapshot} from '../../model/types.js';
import {policyDoubtOf, policyRows, unreadablePolicy} from '../policy/policy.js';
import {judgeUsage, wordsOnce} from '../usage/gpu-usage.js';

export type Finding = {
	readonly check: 'store' | 'pool' | 'provider' | 'gpus' | 'permissions' | 'isolation' | 'clock' | 'versions';
	readonly level: 'ok' | 'warning' | 'error';
	readonly words: string;
	/** What to do about it. */
	readonly fix?: string;
};

/** A store that loses data, or throws some of it away, hands out GPUs twice. */
const judgeCondition = ({isDurable, evicts, damage}: StoreCondition): readonly Finding[] => [
	...(isDurable === false
		? [
				{
					check: 'store',
					level: 'warning',
					words: 'appendonly is off: a crash of Redis takes the newest reservations with it',
					fix: 'redis-cli config set appendonly yes, and the same in redis.conf',
				} as const,
			]
		: []),
	...(evicts === true
		? [
				{
					check: 'store',
					level: 'warning',
					words: 'Redis throws keys away when its memory is full, reservations among them',
					fix: 'redis-cli config set maxmemory-policy noeviction, and the same in redis.conf',
				} as const,
			]
		: []),
	...(damage === undefined
		? []
		: [
				{
					check: 'store',
					level: 'error',
					words: `The database is damaged: ${damage}`,
					fix: 'Move the file away, with its -wal, and make the pool again: canhazgpu admin --store embedded. Jobs, waiters and monitors that run on put back what they know.',
				} as const,
			]),
];

export function judgeStore(location: string, roundTripMs: number, condition: StoreCondition): readonly Finding[] {
	const isSlow = roundTripMs > 100;
	return [
		{
			check: 'store',
			level: isSlow ? 'warning' : 'ok',
			words: `${location} answers in ${Math.max(1, Math.round(roundTripMs))} ms`,
			fix: isSlow
				? 'Every verb waits for it several times: use one nearer by, or find out what keeps it busy.'
				: undefined,
		},
		...judgeCondition(condition),
	];
}

/** Who this is to the pool, where that is not simply the account. */
export function judgeAccount(account: Account): readonly Finding[] {
	const fix = doubtAbout(account);
	const {outsideName} = account;
	if (outsideName !== undefined) {
		return [
			{check: 'permissions', level: 'ok', words: `to the pool this account is ${outsideName}, whose job runs here`},
		];
	}

	return fix === undefined
		? []
		: [
				{
					check: 'permissions',
					level: 'warning',
					words: `to the pool this account is ${accountName(account)}, and nobody else`,
					fix,
				},
			];
}

const moveAway = (key: string, to = `${key}.damaged`): string =>
	`Move it out of the way: redis-cli RENAME ${key} ${to}`;

/** Why every GPU is out of service, and the way to fix it. */
export const unreadableDrains = (problem: string): {readonly words: string; readonly fix: string} => ({
	words: `The record of drained GPUs cannot be read: ${problem}`,
	fix: moveAway('canhazgpu:drain'),
});

/** One record may go; the rest of the pool is no part of the damage. */
const removeRecord = (index: number, kind: Store['kind']): string =>
	kind === 'redis'
		? moveAway(`canhazgpu:gpu:${index}`, `canhazgpu:damaged:${index}`)
		: `Remove that record alone: DELETE FROM gpus WHERE gpu = ${index}`;

/** What an administrator has set; and a policy that does not count, or not all of it. A key of a later version does no harm. */
export const judgePolicy = (snapshot: Snapshot): readonly Finding[] => {
	const {policyProblem, stored} = snapshot;
	if (policyProblem !== undefined) {
		const {words, fix} = unreadablePolicy(policyProblem, stored.policy);
		const {effects} = policyDoubtOf(snapshot)!;
		return [{check: 'store', level: 'error', words: `${words}. Meanwhile: ${effects.join('; ')}`, fix}];
	}

	const set = policyRows(snapshot).filter(({setting, fallback}) => setting !== undefined && fallback !== undefined);
	const holding = set.filter(({problem}) => problem === undefined);
	return [
		...(holding.length === 0
			? []
			: [
					{
						check: 'pool',
						level: 'ok',
						words: `policy: ${holding.map(({key, value}) => `${key}=${value}`).join(', ')}`,
					} as const,
				]),
		...set.flatMap(({key, problem, effect}): readonly Finding[] =>
			problem === undefined
				? []
				: [
						{
							check: 'pool',
							level: 'warning',
							words: `The key ${key} of the policy cannot be read: ${problem}. Meanwhile: ${effect}`,
							fix: `Set it again, or: canhazgpu admin --unset ${key}`,
						},
					],
		),
	];
};

/** Records of the pool that make no sense. */
export const judgeRecords = (
	{gpus, drainProblem, alertsProblem}: Snapshot,
	kind: Store['kind'],
): readonly Finding[] => [
	...gpus.flatMap((record): readonly Finding[] =>
		record.kind === 'garbage'
			? [
					{
						check: 'pool',
						level: 'error',
						words: `The record of GPU ${record.index} makes no sense: ${record.problem}`,
						fix: `${removeRecord(record.index, kind)}. Then nobody holds it; admin --force would end all reservations.`,
					},
				]
			: [],
	),
	...(drainProblem === undefined ? [] : [{check: 'store', level: 'error', ...unreadableDrains(drainProblem)} as const]),
	...(alertsProblem === undefined
		? []
		: [
				{
					check: 'store',
					level: 'warning',
					words: `The record of notices cannot be read, and nothing more is told of use without a reservation: ${alertsProblem}`,
					fix: moveAway('canhazgpu:notices'),
				} as const,
			]),
];

const judgeGpu = (gpu: GpuReading): readonly Finding[] => {
	const {index, failure, health = []} = gpu;
	const use = judgeUsage(gpu, 0);
	return [
		...wordsOnce([...(failure === undefined ? [] : [failure]), ...health.map(({words}) => words)]).map(
			(words): Finding => ({
				check: 'gpus',
				level: 'error',
				words: `GPU ${index}: ${words}`,
				fix: `It is not handed out meanwhile. For the record: canhazgpu admin --drain ${index} --reason TEXT`,
			}),
		),
		...(use.kind === 'unknown'
			? [
					{
						check: 'gpus',
						level: 'warning',
						words: `GPU ${index}: ${use.why}`,
						fix: 'Unknown is not free: it is handed out by --force alone.',
					} as const,
				]
			: []),
	];
};

/** @param pool - Undefined when it could not be read. */
export function judgeScan(observation: Observation, pool: Pool | undefined): readonly Finding[] {
	const {gpus, failure, warnings, provider, simulated, driverVersion, isPartial} = observation;
	if (failure !== undefined) {
		return [{check: 'provider', level: 'error', words: failure.message, fix: failure.hint}];
	}

	const driver = driverVersion === undefined ? '' : `, driver ${driverVersion}`;
	const hidden = gpus.filter((gpu) => gpu.failure === undefined && gpu.processes === undefined).map(({index}) => index);
	// A GPU that is hidden is as unknown as one that fails.
	const unseen =
		isPartial === true
			? gpus.filter((gpu) => gpu.failure !== undefined && gpu.uuid === undefined).map(({index}) => index)
			: [];
	const unowned = gpus.flatMap(({processes = []}) => processes).filter(({user}) => user === undefined);
	return [
		{check: 'provider', level: 'ok', words: `${simulated ? 'simulated' : provider}: ${gpus.length} GPU(s)${driver}`},
		...warnings.map((words): Finding => ({check: 'provider', level: 'warning', words})),
		...(pool !== undefined && pool.gpuCount !== gpus.length
			? [
					{
						check: 'pool',
						level: 'warning',
						words: `The pool has ${pool.gpuCount} GPU(s), this machine ${gpus.length}`,
						fix: 'Once everybody has released theirs: canhazgpu admin --force',
					} as const,
				]
			: []),
		...(unseen.length > 0
			? [
					{
						check: 'gpus',
						level: 'warning',
						words: `GPU ${unseen.join(', ')} cannot be looked at from here: an isolated job opens its own GPUs alone`,
						fix: 'Outside of the job, canhazgpu doctor sees them all.',
					} as const,
				]
			: []),
		...gpus.filter(({index}) => !unseen.includes(index)).flatMap((gpu) => judgeGpu(gpu)),
		...(hidden.length > 0
			? [
					{
						check: 'permissions',
						level: 'warning',
						words: `The processes on GPU ${hidden.join(', ')} cannot be seen`,
						fix: 'In a container, share the pid namespace of the host (docker run --pid=host); else see what the tool says as root.',
					} as const,
				]
			: []),
		...(unowned.length > 0
			? [
					{
						check: 'permissions',
						level: 'warning',
						words: `${unowned.length} process(es) have an owner who cannot be told`,
						fix: 'Is /proc mounted with hidepid? Then join its group (mount option gid=), or run canhazgpu as root.',
					} as const,
				]
			: []),
	];
}

/** Reservations end by the store's clock, and are shown by ours. */
export function judgeClock(storeSeconds: number, ownSeconds: number, roundTripMs: number): Finding {
	const difference = Math.abs(storeSeconds - ownSeconds);
	const isOff = difference > 2 + roundTripMs / 1000;
	return {
		check: 'clock',
		level: isOff ? 'warning' : 'ok',
		words: isOff
			? `The clocks of this machine and of the store differ by ${Math.round(difference)} s`
			: 'agrees with the clock of the store',
		fix: isOff ? 'Let both follow a time server: timedatectl set-ntp true' : undefined,
	};
}

/** The audit log needs Redis 5, and nothing else needs more. */
const oldestRedis = 5;

export function judgeVersions(program: string, runtime: string, store: string | undefined): readonly Finding[] {
	const isOld = store?.startsWith('Redis ') === true && Number(store.slice(6).split('.', 1)[0]) < oldestRedis;
	return [
		{check: 'versions', level: 'ok', words: [`canhazgpu ${program}`, runtime, store].filter(Boolean).join(', ')},
		...(isOld
			? [
					{
						check: 'versions',
						level: 'warning',
						words: `${store} keeps no audit log: canhazgpu events shows nothing`,
						fix: `Use Redis ${oldestRedis} or newer.`,
					} as const,
				]
			: []),
	];
}
