/**
Chooses and opens the store.
*/
import {chmodSync, chownSync, mkdirSync} from 'node:fs';
import {makePool} from './core/administration.js';
import type {Clock, Host, Store} from './core/ports.js';
import {chooseStore, type StoreChoice} from './core/store-choice.js';
import type {PoolRecord} from './core/types.js';
import type {OpenOptions, PoolPlace} from './application.js';
import type {Config} from './config.js';
import type {SettingPath} from './config-schema.js';
import {CanhazgpuError} from './errors.js';
import {simulatedCount, type Detected} from './app-gpus.js';
import {openEmbedded, openPrivate, openRedis} from './app-openers.js';
import type {Places} from './app-places.js';
import {groupId} from './host/groups.js';
import {locationOf} from './store/redis/address.js';

type Context = {readonly config: Config; readonly host: Host; readonly clock: Clock; readonly places: Places};

export type OpenStore = {readonly store: Store; readonly privateLabel?: string; readonly notice?: string};

/** Whoever gives one of these means a Redis, wherever it is. */
const credentials: readonly SettingPath[] = ['redis.username', 'redis.password', 'redis.password_file'];

/** The choice, and the store itself when asking for the facts has opened it already. */
async function choose(context: Context, isPatient: boolean): Promise<{choice: StoreChoice; opened?: Store}> {
	let opened: Store | undefined;
	const choice = await chooseStore(context.places.facts(), async () => {
		try {
			const store = await openRedis(context, isPatient);
			opened = store;
			const {pool} = await store.read();
			return pool === undefined ? 'no-pool' : 'pool';
		} catch (error) {
			// A pool that cannot be read is a pool all the same.
			if (error instanceof CanhazgpuError && error.code === 'pool-garbage') {
				return 'pool';
			}

			const {config} = context;
			if (config.get('store') === undefined && credentials.some((setting) => config.isGiven(setting))) {
				await opened?.close();
				throw error;
			}

			return 'no-answer';
		}
	});
	if (opened !== undefined && choice.kind !== 'redis') {
		await opened.close();
		opened = undefined;
	}

	return {choice, opened};
}

const noPool = (): CanhazgpuError =>
	new CanhazgpuError('no-pool', 'There is no GPU pool on this machine yet', {
		hint: 'Make one with Redis: canhazgpu admin · without Redis: sudo canhazgpu admin --store embedded · to look around: canhazgpu top --demo',
	});

const recordWords = (record: PoolRecord): string => (record.store === 'redis' ? locationOf(record) : record.directory);

const privateRefused = (because: PoolRecord | 'redis', {redisRecord}: Places): CanhazgpuError => {
	const record = because === 'redis' ? redisRecord() : because;
	return new CanhazgpuError(
		'usage',
		`This machine's GPU pool is in ${recordWords(record)}: a private one beside it would hand out its GPUs twice`,
		{
			hint: 'Leave out --store embedded.',
		},
	);
};

async function makePrivate(context: Context, detected: Detected): Promise<OpenStore> {
	const store = await openPrivate(context, true);
	const {provider, gpuCount} =
		detected.provider === undefined ? {provider: 'fake' as const, gpuCount: simulatedCount} : detected;
	try {
		await makePool({...context, store}, {provider, gpuCount, force: false});
	} catch (error) {
		// Somebody else of this account was first: just as good.
		if (!(error instanceof CanhazgpuError && error.code === 'pool-exists')) {
			throw error;
		}
	}

	return {
		store,
		privateLabel: context.places.privateLabel,
		notice: 'There was no pool: made a private one. For everybody on this machine: canhazgpu admin',
	};
}

/**
Opens the store that holds the pool.

@param detect - Asked only when a private pool is to be made.
@throws CanhazgpuError `no-pool`, `store-unreachable`, ...
*/
export async function openStore(
	context: Context,
	{isPatient = false, canMakePrivate = false}: OpenOptions,
	detect: () => Promise<Detected>,
): Promise<OpenStore> {
	const {choice, opened} = await choose(context, isPatient);
	switch (choice.kind) {
		case 'redis': {
			const store = opened ?? (await openRedis(context, isPatient, choice.record));
			if (opened !== undefined) {
				context.places.remember(context.places.redisRecord());
			}

			return {store};
		}

		case 'shared': {
			return {store: await openEmbedded(context, choice.directory)};
		}

		case 'private': {
			return {store: await openPrivate(context, false), privateLabel: context.places.privateLabel};
		}

		case 'private-refused': {
			throw privateRefused(choice.because, context.places);
		}

		case 'none': {
			if (!canMakePrivate) {
				throw noPool();
			}

			return makePrivate(context, await detect());
		}
	}
}

type NewPlace = {readonly store: Store; readonly record?: PoolRecord; readonly privateLabel?: string};

/** The shared directory: for one group, or for everybody. Never sticky: others must be able to open the journal. */
async function openShared(context: Context): Promise<NewPlace> {
	const {places, config} = context;
	const group = config.get('admin.group');
	const gid = group === undefined ? undefined : await groupId(group);
	const [directoryMode, fileMode] = gid === undefined ? [0o777, 0o666] : [0o2770, 0o660];
	try {
		mkdirSync(places.sharedDirectory, {recursive: true});
		if (gid !== undefined) {
			chownSync(places.sharedDirectory, -1, gid);
		}

		chmodSync(places.sharedDirectory, directoryMode);
	} catch (error) {
		throw new CanhazgpuError(
			'store-unreachable',
			`Cannot make ${places.sharedDirectory}: ${(error as NodeJS.ErrnoException).code}`,
			{
				hint: 'Run it as root: sudo canhazgpu admin --store embedded',
				cause: error,
			},
		);
	}

	return {
		store: await openEmbedded(context, places.sharedDirectory, {create: true, directoryMode, fileMode}),
		record: {store: 'embedded', directory: places.sharedDirectory},
	};
}

/** Where `admin` makes the pool: as asked; else where it is already; else in Redis. */
async function newPlace(context: Context): Promise<NewPlace> {
	const {places, config} = context;
	const {asked, isRedisGiven, recorded} = places.facts();
	if (asked === 'embedded' || (asked === undefined && !isRedisGiven && recorded?.store === 'embedded')) {
		return places.canMakeShared()
			? openShared(context)
			: {store: await openPrivate(context, true), privateLabel: places.privateLabel};
	}

	if (config.isGiven('admin.group')) {
		throw new CanhazgpuError('usage', '--group is for a pool without Redis: Redis has users and passwords', {
			hint: 'For example: sudo canhazgpu admin --store embedded --group NAME',
		});
	}

	const isRecorded = asked === undefined && !isRedisGiven && recorded?.store === 'redis';
	const record = isRecorded ? recorded : places.redisRecord();
	try {
		return {store: await openRedis(context, false, isRecorded ? recorded : undefined), record};
	} catch (error) {
		if (error instanceof CanhazgpuError && error.code === 'store-unreachable') {
			throw new CanhazgpuError(error.code, error.message, {
				hint: `${error.hint ?? ''} Or keep the pool without Redis: canhazgpu admin --store embedded`.trim(),
				cause: error,
			});
		}

		throw error;
	}
}

const isSame = (a: PoolRecord, b: PoolRecord): boolean => JSON.stringify(a) === JSON.stringify(b);

export async function openPoolPlace(context: Context): Promise<PoolPlace> {
	const {places} = context;
	const {store, record, privateLabel} = await newPlace(context);
	return {
		location: store.location,
		privateLabel,
		async make(request) {
			const {recorded} = places.facts();
			const elsewhere =
				recorded !== undefined && (record === undefined || !isSame(recorded, record))
					? recordWords(recorded)
					: undefined;
			if (elsewhere !== undefined && !request.force) {
				throw new CanhazgpuError('pool-exists', `This machine's GPU pool is somewhere else already: in ${elsewhere}`, {
					hint: 'Nothing was changed. --force makes another and sends everybody there.',
				});
			}

			const made = await makePool({...context, store}, {...request, movedFrom: elsewhere});
			if (record !== undefined && !places.announce(record) && record.store === 'redis') {
				places.remember(record);
			}

			return made;
		},
		close: async () => store.close(),
	};
}
