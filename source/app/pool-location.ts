import {
	checkReplaceable,
	closePool,
	createPool,
	type PoolMade,
	type PoolRequest,
	type PoolSettings,
} from '../core/operations/pool/create-pool.js';
import {emptyPlan} from '../core/model/plan.js';
import {requirePool} from '../core/rules/pool/pool.js';
import type {Store} from '../core/model/ports.js';
import type {StoreFacts} from '../core/operations/pool/choose-store.js';
import type {Pool, PoolRecord} from '../core/model/types.js';
import {CanhazgpuError, hasCode, messageOf} from '../errors.js';
import {groupId} from '../host/accounts/groups.js';
import {shellCommand} from '../format/text/shell.js';
import type {PoolLocation} from './contract.js';
import type {Locations} from './locations.js';
import {openEmbedded, openPrivate, openRedis} from './open-stores.js';
import {isSameRecord, recordText, unrecordedPool, type Context} from './stores.js';

type NewLocation = {
	readonly store: Store;
	readonly record?: PoolRecord;
	readonly privateLabel?: string;
	readonly repairs?: readonly string[];
	/** Whether `--group` has changed who can use an existing pool. */
	readonly hasNewGroup?: boolean;
};

/** The name of no group, as in Slurm's AllowGroups: all accounts can use the pool. */
const everyGroup = 'ALL';

/** Opens the shared pool. Only its owner may write to the directory, so permissions that an old version gave to all are removed. */
async function openShared(context: Context): Promise<NewLocation> {
	const {locations, config} = context;
	const directory = locations.sharedDirectory;
	const database = locations.databaseIn(directory);
	const group = config.get('admin.group');
	const isForEveryone = group === everyGroup;
	const asked = group === undefined || isForEveryone ? undefined : await groupId(group);
	const {changeAudience, closeDirectory, forEveryone, forGroup, groupOfDatabase, lacksPermissions} =
		await import('../store/sqlite/index.js');
	try {
		const gid = isForEveryone ? undefined : (asked ?? groupOfDatabase(database));
		const audience = gid === undefined ? forEveryone : forGroup(gid);
		const repairs = [
			...closeDirectory(database),
			...(lacksPermissions(database)
				? [`The permissions of ${database} kept other accounts out: they can use the pool again.`]
				: []),
		];
		const store = await openEmbedded(context, directory, audience);
		const isChanged = (repairs.length > 0 || group !== undefined) && changeAudience(database, audience);
		const hasNewGroup = isChanged && group !== undefined;
		return {
			store,
			record: {store: 'embedded', directory},
			repairs: hasNewGroup
				? [...repairs, `${isForEveryone ? 'All accounts' : `Only members of ${group}`} can use the pool now.`]
				: repairs,
			hasNewGroup,
		};
	} catch (error) {
		const {code} = (error instanceof CanhazgpuError ? (error.cause ?? {}) : error) as NodeJS.ErrnoException;
		if (code !== 'EACCES' && code !== 'EPERM') {
			throw error;
		}

		throw new CanhazgpuError('store-unreachable', `Cannot create ${directory}: ${code}`, {
			hint: 'Run it as root: sudo canhazgpu admin --store embedded',
			cause: error,
		});
	}
}

type Adjusted = PoolMade & Pick<PoolLocation, 'location' | 'repairs'>;

/** Records the location of an existing pool whose record is missing. Undefined if the file has no pool, or if its pool has moved. */
async function recordAgain(context: Context): Promise<Adjusted | undefined> {
	const opened = await openShared(context);
	const {location, repairs, make, close} = poolLocationOf(context, opened);
	try {
		const {pool} = await opened.store.read();
		if (pool === undefined || pool.machine?.movedTo !== undefined) {
			return undefined;
		}

		const made = await make({gpuCount: pool.gpuCount, provider: pool.provider, force: false});
		return {...made, location, repairs};
	} finally {
		await close();
	}
}

async function adjustEmbedded(context: Context, isGroupAsked: boolean): Promise<Adjusted | undefined> {
	const {locations} = context;
	const {asked, isRedisGiven, recorded} = locations.facts();
	const directory = locations.sharedDirectory;
	const isMeant = asked === undefined ? !isRedisGiven : asked === 'embedded';
	if (!isMeant || !locations.canMakeShared()) {
		return undefined;
	}

	const {embeddedPoolExists} = await import('../store/sqlite/index.js');
	if (!embeddedPoolExists(locations.databaseIn(directory))) {
		return undefined;
	}

	if (recorded === undefined) {
		return recordAgain(context);
	}

	const record = {store: 'embedded', directory} as const;
	if (!isSameRecord(recorded, record)) {
		return undefined;
	}

	const {store, repairs = []} = await openShared(context);
	try {
		const {pool} = repairs.length > 0 || isGroupAsked ? await store.read() : {};
		if (repairs.length > 0 && locations.canAnnounce()) {
			// Others may not be able to read the record either.
			locations.announce(record);
		}

		return pool && {pool, droppedLeases: 0, wasThere: true, location: store.location, repairs};
	} finally {
		await store.close();
	}
}

/** Returns the store in which `admin` creates the pool: the requested store, or else the current one, or else Redis. */
const storeFor = ({asked, isRedisGiven, recorded}: StoreFacts): PoolRecord['store'] =>
	asked ?? (isRedisGiven ? 'redis' : (recorded?.store ?? 'redis'));

const groupNeedsEmbedded = (): CanhazgpuError =>
	new CanhazgpuError(
		'usage',
		'--group works only for a pool without Redis, because Redis has its own users and passwords',
		{hint: 'For example: sudo canhazgpu admin --store embedded --group NAME'},
	);

/**
Makes the existing pool in a file safe, records its location if the record is missing, and changes who can use it as `--group` says, without a look at
the GPUs. Undefined if there is no such pool or nothing to change. Throws if the caller cannot change who uses the pool.
*/
export async function adjustPool(context: Context, isGroupAsked: boolean): Promise<Adjusted | undefined> {
	const adjusted = await adjustEmbedded(context, isGroupAsked);
	if (adjusted === undefined && isGroupAsked) {
		const facts = context.locations.facts();
		if (storeFor(facts) === 'redis') {
			throw groupNeedsEmbedded();
		}

		if (!context.locations.canMakeShared()) {
			await refuseSecondPool(context, facts.recorded);
		}
	}

	return adjusted;
}

const embeddedCommand = (config: Context['config']): string =>
	shellCommand([
		'sudo',
		'canhazgpu',
		'admin',
		'--store',
		'embedded',
		...(['gpus', 'provider', 'group'] as const).flatMap((flag) => {
			const value = config.isGiven(`admin.${flag}`) ? config.get(`admin.${flag}`) : undefined;
			return value === undefined ? [] : [`--${flag}`, String(value)];
		}),
	]);

async function openInRedis(context: Context, {asked, isRedisGiven, recorded}: StoreFacts): Promise<NewLocation> {
	const {locations, config} = context;
	if (config.isGiven('admin.group')) {
		throw groupNeedsEmbedded();
	}

	const isRecorded = asked === undefined && !isRedisGiven && recorded?.store === 'redis';
	const record = isRecorded ? recorded : locations.redisRecord();
	try {
		const store = await (isRecorded
			? openRedis(context, false, recorded, locations.announcement)
			: openRedis(context, false));
		return {store, record};
	} catch (error) {
		if (hasCode(error, 'store-unreachable')) {
			throw new CanhazgpuError(error.code, error.message, {
				hint: `${error.hint ?? ''} Or create a pool without Redis: ${embeddedCommand(config)}`.trim(),
				cause: error,
			});
		}

		throw error;
	}
}

/** The pool that this machine has so far. `problem` says why the pool could not be read, so that it may not exist. */
type FoundPool = {readonly record: PoolRecord; readonly problem?: string};

const existsElsewhere = ({record, problem}: FoundPool, remedy: string): CanhazgpuError =>
	new CanhazgpuError(
		'pool-exists',
		`This machine's GPU pool ${problem === undefined ? 'already exists' : 'may already exist'} elsewhere: in ${recordText(record)}`,
		{hint: `${problem === undefined ? '' : `${problem}. `}Nothing was changed. ${remedy}`},
	);

/** Throws `pool-exists` if this machine has a pool for everyone, because the GPUs of a private pool could then be granted twice. */
async function refuseSecondPool(context: Context, recorded: PoolRecord | undefined): Promise<void> {
	const found = recorded === undefined ? await poolInRedis(context) : {record: recorded};
	if (found === undefined) {
		return;
	}

	const command = embeddedCommand(context.config);
	if (!isSameRecord(found.record, {store: 'embedded', directory: context.locations.sharedDirectory})) {
		throw existsElsewhere(
			found,
			`To end all its reservations and redirect everyone to another pool: ${command} --force`,
		);
	}

	throw new CanhazgpuError('pool-exists', `This account cannot change the pool in ${recordText(found.record)}`, {
		hint: `Nothing was changed. ${
			context.config.isGiven('admin.group')
				? `To change who can use it: ${command}`
				: `To replace it and end all its reservations: ${command} --force`
		}`,
	});
}

/** Opens the place where `admin` creates the pool. */
async function newLocation(context: Context): Promise<NewLocation> {
	const {locations} = context;
	const facts = locations.facts();
	const {recorded} = facts;
	switch (storeFor(facts)) {
		case 'embedded': {
			if (locations.canMakeShared()) {
				return openShared(context);
			}

			if (recorded === undefined && facts.hasSharedFile) {
				throw unrecordedPool(locations);
			}

			await refuseSecondPool(context, recorded);
			return {store: await openPrivate(context, true), privateLabel: locations.privateLabel};
		}

		case 'redis': {
			return openInRedis(context, facts);
		}
	}
}

function poolAsked(error: unknown, {gpuCount, provider}: PoolRequest): Pool | undefined {
	if (!hasCode(error, 'pool-exists')) {
		return undefined;
	}

	const pool = error.details as Pool;
	return pool.gpuCount === gpuCount && pool.provider === provider ? pool : undefined;
}

/** Returns the error without the hint that nothing was changed, because permissions of the pool have already been repaired. */
const withoutNothingChanged = (error: unknown): unknown =>
	hasCode(error, 'pool-exists')
		? new CanhazgpuError(error.code, error.message, {
				hint: 'Its reservations were kept. --force replaces the pool and ends all its reservations.',
				cause: error,
				details: error.details,
			})
		: error;

/** Returns the error with a hint that names the command that records the existing pool in a file for everyone. */
function withRecordingHint(error: unknown): unknown {
	if (!hasCode(error, 'pool-exists')) {
		return error;
	}

	const {gpuCount, provider} = error.details as Pool;
	return new CanhazgpuError(error.code, error.message, {
		hint: `It is not recorded for everyone yet. To do that and keep its reservations: sudo canhazgpu admin --store embedded --gpus ${gpuCount} --provider ${provider}. --force replaces the pool and ends all its reservations.`,
		cause: error,
		details: error.details,
	});
}

/**
Finds a pool in the configured Redis that this machine has not recorded for everyone, such as a pool of the Go program. A damaged pool counts, too. A
Redis that cannot be read counts only if this account has configured or used it, because another program may use the Redis of this machine.
*/
async function poolInRedis(context: Context): Promise<FoundPool | undefined> {
	const {locations} = context;
	let store: Store | undefined;
	try {
		store = await openRedis(context, false);
		requirePool(await store.read(), context.host, store);
		return {record: locations.redisRecord()};
	} catch (error) {
		if (!(error instanceof CanhazgpuError)) {
			throw error;
		}

		const {code, message: problem} = error;
		// A pool of another machine, or one that has moved, grants no GPUs of this machine.
		if (code === 'no-pool' || code === 'wrong-machine') {
			return undefined;
		}

		const {isRedisGiven, remembered} = locations.facts();
		if (code === 'pool-garbage' || isRedisGiven) {
			return {record: locations.redisRecord(), problem};
		}

		return remembered?.store === 'redis' ? {record: remembered, problem} : undefined;
	} finally {
		await store?.close();
	}
}

/** Finds a pool in the shared directory whose record is missing. A file that cannot be read counts, too. */
async function poolInFile(context: Context): Promise<FoundPool | undefined> {
	const {locations} = context;
	if (!locations.facts().hasSharedFile) {
		return undefined;
	}

	const record: PoolRecord = {store: 'embedded', directory: locations.sharedDirectory};
	let store: Store | undefined;
	try {
		store = await openEmbedded(context, record.directory);
		requirePool(await store.read(), context.host, store);
		return {record};
	} catch (error) {
		if (!(error instanceof CanhazgpuError)) {
			throw error;
		}

		return hasCode(error, 'no-pool') || hasCode(error, 'wrong-machine')
			? undefined
			: {record, problem: messageOf(error)};
	} finally {
		await store?.close();
	}
}

type Former = {
	readonly movedFrom?: string;
	readonly droppedLeases: number;
	/** The settings to take over. Undefined if the former pool could not be read. */
	readonly settings?: PoolSettings;
	readonly warning?: string;
};

/**
Closes the machine's previous pool if it is in another store. This happens before the new pool is created, because a program that still uses the
previous pool, such as a monitor, could otherwise grant the same GPUs twice.
@param record - The location that is recorded for everyone. Undefined for a private pool.
@returns How many reservations ended and the settings of the previous pool, or why the reservations could not be ended.
@throws CanhazgpuError `pool-exists` without `force`, `store-refused` if the new store accepts no changes, `wrong-machine` if it has the pool of
another machine.
*/
async function leaveFormer(
	context: Context & {readonly store: Store},
	record: PoolRecord | undefined,
	force: boolean,
): Promise<Former> {
	// A private pool is created only if this machine has no pool for everyone, as refuseSecondPool() has checked.
	if (record === undefined) {
		return {droppedLeases: 0};
	}

	const {locations} = context;
	const {recorded} = locations.facts();
	const found =
		recorded === undefined
			? await (record.store === 'redis' ? poolInFile(context) : poolInRedis(context))
			: {record: recorded};
	if (found === undefined || isSameRecord(found.record, record)) {
		return {droppedLeases: 0};
	}

	const movedFrom = recordText(found.record);
	if (!force) {
		throw existsElsewhere(found, '--force creates another pool and redirects everyone to it.');
	}

	// This account cannot tell other users about the new pool, so their reservations in the previous pool stay.
	if (!locations.canAnnounce()) {
		return {movedFrom, droppedLeases: 0};
	}

	// Checks that the new store accepts changes and has no pool of another machine before any reservation ends.
	await context.store.commit(emptyPlan);
	await checkReplaceable(context);
	let store: Store | undefined;
	try {
		store = await (found.record.store === 'redis'
			? openRedis(context, false, found.record)
			: openEmbedded(context, found.record.directory));
		return {movedFrom, ...(await closePool({...context, store}, recordText(record)))};
	} catch (error) {
		const warning = `Warning: the reservations in ${movedFrom} could not be ended: ${messageOf(error)}`;
		return {movedFrom, droppedLeases: 0, warning: hasCode(error, 'no-pool') ? undefined : warning};
	} finally {
		await store?.close();
	}
}

/** Records the location of the new pool for everyone, or else for this account. Returns a warning if other accounts do not find the pool. */
function recordNew({announce, remember}: Locations, record: PoolRecord, former: PoolRecord | undefined) {
	const warning = announce(record);
	if (warning !== undefined && record.store === 'redis') {
		remember(record);
	}

	return former !== undefined && isSameRecord(former, record) ? undefined : warning;
}

export const openPoolLocation = async (context: Context): Promise<PoolLocation> =>
	poolLocationOf(context, await newLocation(context));

function poolLocationOf(
	context: Context,
	{store, record, privateLabel, repairs = [], hasNewGroup = false}: NewLocation,
): PoolLocation {
	const {locations} = context;
	return {
		location: store.location,
		privateLabel,
		repairs,
		hasNewGroup,
		async make(request) {
			const {recorded} = locations.facts();
			if (record !== undefined) {
				locations.checkAnnounceable();
				// A new pool in a file, and a pool that moves, can be found only through the recorded location.
				const mustRecord = recorded === undefined ? record.store === 'embedded' : !isSameRecord(recorded, record);
				if (mustRecord && locations.canAnnounce()) {
					locations.checkWritable(record);
				}
			}

			const {movedFrom, droppedLeases, settings, warning} = await leaveFormer(
				{...context, store},
				record,
				request.force,
			);
			let made: PoolMade;
			try {
				made = await createPool({...context, store}, {...request, movedFrom, settings});
			} catch (error) {
				// If an earlier `admin` created this pool but was stopped before it recorded the location, only records the location. If `--group` has
				// changed who can use the existing pool, nothing else is left to do.
				const pool = recorded === undefined || hasNewGroup ? poolAsked(error, request) : undefined;
				if (pool === undefined || record === undefined || locations.announce(record) !== undefined) {
					if (recorded === undefined && record?.store === 'embedded') {
						throw withRecordingHint(error);
					}

					throw repairs.length > 0 ? withoutNothingChanged(error) : error;
				}

				return {pool, droppedLeases: 0, wasThere: true};
			}

			const unrecorded = record === undefined ? undefined : recordNew(locations, record, recorded);
			return {
				...made,
				droppedLeases: made.droppedLeases + droppedLeases,
				...(movedFrom !== undefined && settings !== undefined && {moved: {from: movedFrom, settings}}),
				warning: warning ?? unrecorded,
			};
		},
		close: async () => store.close(),
	};
}
