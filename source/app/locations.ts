import {accessSync, constants, existsSync, statSync} from 'node:fs';
import path from 'node:path';
import type {Config} from '../config/config.js';
import type {SettingPath} from '../config/schema.js';
import {isRoot} from '../core/rules/leases/ownership.js';
import type {Host} from '../core/model/ports.js';
import type {StoreFacts} from '../core/operations/pool/choose-store.js';
import type {PoolRecord} from '../core/model/types.js';
import {CanhazgpuError, fileProblemOf} from '../errors.js';
import {effectiveUid, findUnsafeLocation, type UnsafeLocation} from '../security/safe-file.js';
import {
	checkRecordWritable,
	findUnsafeRecordLocation,
	keepOthersOut,
	readPoolRecord,
	writePoolRecord,
} from '../store/pool-records.js';
import {withoutSecrets} from '../store/redis/address.js';
import {machineStateDirectory, stateDirectory} from './user-file.js';

const databaseName = 'pool.sqlite';

const redisSettings: readonly SettingPath[] = ['redis.host', 'redis.port', 'redis.db', 'redis.url', 'redis.socket'];

export type Locations = {
	readonly sharedDirectory: string;
	/** The file that records the location of the pool for everyone on the machine. */
	readonly announcement: string;
	readonly databaseIn: (directory: string) => string;
	/** The directory of a private pool. Throws `store-unreachable` if the account has no home directory. */
	readonly privateDirectory: string;
	/** The file with the lines typed in the monitor. Undefined if this account keeps no files. */
	readonly lineHistory: string | undefined;
	readonly privateLabel: string;
	readonly facts: () => StoreFacts;
	/** Records the location of the pool for this user. From then on, it is an error if the pool is missing. */
	readonly remember: (record: PoolRecord) => void;
	/** Whether other accounts would trust a record that this account writes for everyone on the machine. */
	readonly canAnnounce: () => boolean;
	/** Records the location of the pool for everyone on the machine. Returns a warning if that fails or other accounts would not trust the record. */
	readonly announce: (record: PoolRecord) => string | undefined;
	/** Throws `store-unreachable` if the location cannot be written for everyone, such as on a full disk. */
	readonly checkWritable: (record: PoolRecord) => void;
	/** Throws if other accounts could replace the directory in which root records the location for everyone. */
	readonly checkAnnounceable: () => void;
	readonly canMakeShared: () => boolean;
	readonly redisRecord: () => PoolRecord & {readonly store: 'redis'};
};

/** Whether other accounts would trust a record in the directory. If the directory is missing, this account will create and own it. */
function isBelieved(directory: string): boolean {
	const uid = effectiveUid();
	const owner = statSync(directory, {throwIfNoEntry: false})?.uid;
	return uid === 0 || owner === undefined || owner === uid;
}

/**
Whether this account should keep its records in the directory. After `sudo -E` or `su`, the home directory can belong to another account. That account
could redirect root's writes with a link, and could not enter a directory that root creates.
*/
function isOwnState(directory: string): boolean {
	try {
		return findUnsafeLocation(directory, {trustsOwner: false}) === undefined;
	} catch {
		return false;
	}
}

function attempt(work: () => void): boolean {
	try {
		work();
		return true;
	} catch {
		return false;
	}
}

const announcementModes = {directoryMode: 0o755, fileMode: 0o644};

export function createLocations(config: Config, host: Host): Locations {
	const sharedDirectory = path.resolve(config.get('pool.directory')!);
	const announcement = path.join(sharedDirectory, 'pool.json');
	const writableHint = `Check the space, the inodes and the permissions of ${sharedDirectory}, and repeat this command.`;
	const privateDirectory = (): string | undefined => machineStateDirectory(host);
	const memory = (): string | undefined => {
		const directory = privateDirectory();
		return directory === undefined || !isOwnState(directory) ? undefined : path.join(directory, 'found.json');
	};

	const state = stateDirectory();
	const hasPrivatePool = (): boolean => {
		const directory = privateDirectory();
		return directory !== undefined && existsSync(path.join(directory, databaseName));
	};

	/** Returns why other accounts would not trust a record that this account writes for everyone. Undefined if they would. */
	const distrust = (): string | undefined => {
		try {
			const isTrusted = isBelieved(sharedDirectory) && findUnsafeRecordLocation(sharedDirectory) === undefined;
			return isTrusted ? undefined : 'its directory belongs to another account';
		} catch (error) {
			return fileProblemOf(error);
		}
	};

	return {
		sharedDirectory,
		announcement,
		databaseIn: (directory) => path.join(directory, databaseName),
		get privateDirectory() {
			const directory = privateDirectory();
			if (directory === undefined) {
				throw new CanhazgpuError('store-unreachable', 'This account has no home directory for a private pool', {
					hint: 'Set HOME or XDG_STATE_HOME to a directory of your own. Or create a pool for everybody: sudo canhazgpu admin',
				});
			}

			return directory;
		},
		lineHistory: state === undefined ? undefined : path.join(state, 'history'),
		get privateLabel() {
			return `PRIVATE pool of ${host.account.name}: nobody else sees these reservations. To create a pool for everybody: sudo canhazgpu admin`;
		},
		facts: () => ({
			asked: config.get('store'),
			isRedisGiven: redisSettings.some((setting) => config.isGiven(setting)),
			recorded: readPoolRecord(announcement, 'machine'),
			get remembered() {
				const file = memory();
				return file === undefined ? undefined : readPoolRecord(file, 'user');
			},
			get hasSharedFile() {
				return existsSync(path.join(sharedDirectory, databaseName));
			},
			hasPrivatePool: hasPrivatePool(),
		}),
		remember(record) {
			// The record only makes the next command faster, so it is no error if the home directory is not writable.
			attempt(() => {
				const file = memory();
				if (file !== undefined && JSON.stringify(readPoolRecord(file, 'user')) !== JSON.stringify(record)) {
					writePoolRecord(file, record, {directoryMode: 0o700, fileMode: 0o600});
				}
			});
		},
		canAnnounce: () => distrust() === undefined,
		announce(record) {
			let reason = distrust();
			if (reason === undefined) {
				try {
					// The embedded store creates its directory itself.
					if (record.store === 'redis') {
						keepOthersOut(sharedDirectory, [path.basename(announcement), databaseName]);
					}

					writePoolRecord(announcement, record, announcementModes);
					return undefined;
				} catch (error) {
					reason = fileProblemOf(error);
				}
			}

			const remedy = isRoot(host.account) ? writableHint : 'To record it for everyone, repeat this command with sudo.';
			return `Warning: without settings, other accounts do not find this pool, because ${announcement} could not be written: ${reason}. ${remedy}`;
		},
		checkWritable(record) {
			try {
				checkRecordWritable(announcement, record, announcementModes);
			} catch (error) {
				throw new CanhazgpuError(
					'store-unreachable',
					`Cannot write ${announcement}, which says where the GPU pool is: ${fileProblemOf(error)}`,
					{hint: `Nothing was changed. ${writableHint}`, cause: error},
				);
			}
		},
		checkAnnounceable() {
			// Only root records the location for everyone. Other accounts may still remember it for themselves.
			let unsafe: UnsafeLocation | undefined;
			try {
				unsafe = isRoot(host.account) ? findUnsafeRecordLocation(sharedDirectory) : undefined;
			} catch {
				// The file system hides the directory, so no record can be written into it.
			}

			if (unsafe !== undefined) {
				throw new CanhazgpuError('store-unreachable', `Cannot create ${announcement}: it ${unsafe.problem}`, {
					hint: unsafe.remedy,
				});
			}
		},
		canMakeShared: () =>
			isRoot(host.account) ||
			attempt(() => {
				accessSync(sharedDirectory, constants.W_OK);
			}),
		redisRecord: () => ({
			store: 'redis',
			...withoutSecrets({
				host: config.get('redis.host')!,
				port: config.get('redis.port')!,
				db: config.get('redis.db')!,
				url: config.get('redis.url'),
				socket: config.get('redis.socket'),
			}),
		}),
	};
}
