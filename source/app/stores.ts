import {createPool} from '../core/operations/pool/create-pool.js';
import {otherHosts} from '../core/model/other-hosts.js';
import type {Clock, Host, Store} from '../core/model/ports.js';
import {chooseStore, type StoreChoice} from '../core/operations/pool/choose-store.js';
import type {PoolRecord} from '../core/model/types.js';
import type {Config} from '../config/config.js';
import {CanhazgpuError, hasCode} from '../errors.js';
import {locationOf} from '../store/redis/address.js';
import type {Detected, OpenOptions} from './contract.js';
import {simulatedCount} from './names.js';
import {credentials, openEmbedded, openPrivate, openRedis} from './open-stores.js';
import type {Locations} from './locations.js';

export type Context = {
	readonly config: Config;
	readonly host: Host;
	readonly clock: Clock;
	readonly locations: Locations;
};

type OpenStore = {readonly store: Store; readonly privateLabel?: string; readonly notice?: string};

type Chosen = {
	readonly choice: StoreChoice;
	readonly opened?: Store;
	readonly silence?: CanhazgpuError;
	/** Whether the choice is the location that is recorded for everyone on the machine. */
	readonly isRecorded: boolean;
};

export const isSameRecord = (a: PoolRecord, b: PoolRecord): boolean => JSON.stringify(a) === JSON.stringify(b);

const isConfigured = (record: PoolRecord | undefined, {locations}: Context): boolean =>
	record === undefined || isSameRecord(record, locations.redisRecord());

async function choose(context: Context, keepReconnecting: boolean): Promise<Chosen> {
	let opened: Store | undefined;
	let silence: CanhazgpuError | undefined;
	const facts = context.locations.facts();
	const choice = await chooseStore(facts, async () => {
		try {
			const store = await openRedis(context, keepReconnecting);
			opened = store;
			const {pool} = await store.read();
			return pool === undefined ? 'no-pool' : 'pool';
		} catch (error) {
			// A pool that cannot be read still exists.
			if (hasCode(error, 'pool-garbage')) {
				return 'pool';
			}

			const {config} = context;
			const isRedisMeant = () =>
				config.get('store') === undefined && credentials.some((setting) => config.isGiven(setting));
			// Fails after a bug, and if credentials are given: Redis may have a pool, and a second pool would grant the same GPUs twice.
			if (!(error instanceof CanhazgpuError) || isRedisMeant()) {
				await opened?.close();
				throw error;
			}

			silence = hasCode(error, 'store-unreachable') ? error : undefined;
			return 'no-answer';
		}
	});
	// The store opened so far is the configured Redis, but the choice may be another store.
	if (opened !== undefined && !(choice.kind === 'redis' && isConfigured(choice.record, context))) {
		await opened.close();
		opened = undefined;
	}

	const isRecorded = choice.kind === 'redis' && choice.record !== undefined && choice.record === facts.recorded;
	return {choice, opened, silence, isRecorded};
}

const otherHostsHint = ([first]: readonly string[]): string =>
	first === undefined
		? ''
		: `To see the hosts in remote_hosts: canhazgpu status --all. To use one: --on ${first} with run, reserve, release, extend or queue. To have a pool on this machine as well, create one. `;

/** Returns the hint about a Redis that did not answer, and that may have the pool. */
const silenceHint = (silence: CanhazgpuError | undefined): string =>
	silence === undefined ? '' : `${silence.message}. If your pool is there, start that server. `;

/** Returns the error for a missing pool. `silence` is the error of a configured Redis that did not answer, and that may have the pool. */
const noPool = (silence: CanhazgpuError | undefined, hosts: readonly string[]): CanhazgpuError =>
	new CanhazgpuError('no-pool', 'There is no GPU pool on this machine yet', {
		hint: `${otherHostsHint(hosts)}${silenceHint(silence)}To create a pool with Redis: canhazgpu admin · without Redis: sudo canhazgpu admin --store embedded · to try the monitor without a pool: canhazgpu top --demo`,
	});

export const recordText = (record: PoolRecord): string =>
	record.store === 'redis' ? locationOf(record) : record.directory;

const privateRefused = (
	because: PoolRecord | 'redis',
	{redisRecord}: Locations,
	silence: CanhazgpuError | undefined,
): CanhazgpuError => {
	const record = because === 'redis' ? redisRecord() : because;
	return new CanhazgpuError(
		'usage',
		`This machine's GPU pool ${silence === undefined ? 'is' : 'may be'} in ${recordText(record)}, and a second, private pool could give the same GPU to two people`,
		{
			hint: `${silenceHint(silence)}Leave out --store embedded.`,
		},
	);
};

/** Returns the error for a pool in a file whose record is missing, such as after a backup was restored without `pool.json`. */
export const unrecordedPool = ({databaseIn, sharedDirectory, announcement}: Locations): CanhazgpuError =>
	new CanhazgpuError(
		'store-unreachable',
		`There is a GPU pool in ${databaseIn(sharedDirectory)}, but ${announcement}, which says where the GPU pool is, is missing`,
		{
			hint: 'Create that file again, with all reservations of the pool: sudo canhazgpu admin --store embedded',
			needsCorrection: true,
		},
	);

async function makePrivate(context: Context, detected: Detected): Promise<OpenStore> {
	const store = await openPrivate(context, true);
	const {provider, gpuCount} =
		detected.provider === undefined ? {provider: 'fake' as const, gpuCount: simulatedCount} : detected;
	try {
		await createPool({...context, store}, {provider, gpuCount, force: false});
	} catch (error) {
		// Another process of this account created the pool first.
		if (!hasCode(error, 'pool-exists')) {
			throw error;
		}
	}

	return {
		store,
		privateLabel: context.locations.privateLabel,
		notice: 'Created a private pool. To create one for everybody: sudo canhazgpu admin',
	};
}

/** Whether the creation of the pool was interrupted, so that its file has no pool and nothing that a pool has left. */
async function isUnfinished(store: Store): Promise<boolean> {
	try {
		const {pool, gpus, queue} = await store.read();
		return pool === undefined && gpus.length === 0 && queue.length === 0;
	} catch (error) {
		if (error instanceof CanhazgpuError) {
			return false;
		}

		throw error;
	}
}

/** Opens the store that holds the pool. `detect` is called only to create a private pool. */
export async function openStore(
	context: Context,
	{keepReconnecting = false, canMakePrivate = false}: OpenOptions,
	detect: () => Promise<Detected>,
): Promise<OpenStore> {
	const {choice, opened, silence, isRecorded} = await choose(context, keepReconnecting);
	switch (choice.kind) {
		case 'redis': {
			const namedIn = isRecorded ? context.locations.announcement : undefined;
			const store = opened ?? (await openRedis(context, keepReconnecting, choice.record, namedIn));
			if (opened !== undefined) {
				context.locations.remember(context.locations.redisRecord());
			}

			return {store};
		}

		case 'shared': {
			return {store: await openEmbedded(context, choice.directory)};
		}

		case 'private': {
			const store = await openPrivate(context, false);
			if (canMakePrivate && (await isUnfinished(store))) {
				await store.close();
				return makePrivate(context, await detect());
			}

			return {store, privateLabel: context.locations.privateLabel};
		}

		case 'private-refused': {
			throw privateRefused(choice.because, context.locations, silence);
		}

		case 'unrecorded': {
			throw unrecordedPool(context.locations);
		}

		case 'none': {
			if (!canMakePrivate) {
				// A user who chose the store without Redis should not get a message about Redis.
				throw noPool(
					context.config.get('store') === undefined ? silence : undefined,
					otherHosts(context.config.get('remote_hosts') ?? [], context.host.hostname),
				);
			}

			return makePrivate(context, await detect());
		}
	}
}
