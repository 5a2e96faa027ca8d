/** Where pools may be on this machine, and what is there: the facts from which `choose-store.ts` of the core decides. */
import {accessSync, constants, existsSync, statSync} from 'node:fs';
import path from 'node:path';
import type {Config} from '../config/config.js';
import type {SettingPath} from '../config/schema.js';
import {isRoot} from '../core/rules/leases/ownership.js';
import type {Host} from '../core/model/ports.js';
import type {StoreFacts} from '../core/operations/pool/choose-store.js';
import type {PoolRecord} from '../core/model/types.js';
import {CanhazgpuError} from '../errors.js';
import {effectiveUid, findUnsafeLocation, type UnsafeLocation} from '../security/safe-file.js';
import {findUnsafeRecordLocation, keepOthersOut, readPoolRecord, writePoolRecord} from '../store/pool-records.js';
import {withoutSecrets} from '../store/redis/address.js';
import {machineStateDirectory, stateDirectory} from './user-file.js';

const databaseName = 'pool.sqlite';

const redisSettings: readonly SettingPath[] = ['redis.host', 'redis.port', 'redis.db', 'redis.url', 'redis.socket'];

export type Locations = {
	/** Database of the pool that everybody on the machine shares. */
	readonly sharedDirectory: string;
	readonly databaseIn: (directory: string) => string;
	/**
	Directory of this user's own pool.

	@throws CanhazgpuError `store-unreachable` where the account has no home directory.
	*/
	readonly privateDirectory: string;
	/** The file of what this user typed into the monitor. Undefined where nothing can be kept. */
	readonly lineHistory: string | undefined;
	/** Says on every face that a pool is private. */
	readonly privateLabel: string;
	readonly facts: () => StoreFacts;
	/** For this user: the next time, its absence is an error. */
	readonly remember: (record: PoolRecord) => void;
	/** Whether others would believe what this account announces. */
	readonly canAnnounce: () => boolean;
	/** For everybody on the machine. False when this account may not: then others would not believe it. */
	readonly announce: (record: PoolRecord) => boolean;
	/**
	@throws CanhazgpuError `store-unreachable` when what root would announce is not believed, because others could replace its directory.
	*/
	readonly checkAnnounceable: () => void;
	/** True when this account may make the shared pool. */
	readonly canMakeShared: () => boolean;
	/** The configured Redis, as a record. */
	readonly redisRecord: () => PoolRecord & {readonly store: 'redis'};
};

/** Whether a record of ours there is believed by others. A directory that is not there yet will be ours. */
function isBelieved(directory: string): boolean {
	const uid = effectiveUid();
	const owner = statSync(directory, {throwIfNoEntry: false})?.uid;
	return uid === 0 || owner === undefined || owner === uid;
}

/**
Whether this account keeps a memory there. With `sudo -E` or `su`, the home may be another account's, who could have root change any file by a
link, and who could no longer enter what root makes there.
*/
function isOwnState(directory: string): boolean {
	try {
		return findUnsafeLocation(directory, {trustsOwner: false}) === undefined;
	} catch {
		return false;
	}
}

/** Runs it; a failure of the file system means no. */
function attempt(work: () => void): boolean {
	try {
		work();
		return true;
	} catch {
		return false;
	}
}

export function createLocations(config: Config, host: Host): Locations {
	const sharedDirectory = path.resolve(config.get('pool.directory')!);
	const announcement = path.join(sharedDirectory, 'pool.json');
	const privateDirectory = (): string | undefined => machineStateDirectory(host);
	/** The file that remembers where the pool was found. Undefined where this account keeps none. */
	const memory = (): string | undefined => {
		const directory = privateDirectory();
		return directory === undefined || !isOwnState(directory) ? undefined : path.join(directory, 'found.json');
	};

	const state = stateDirectory();
	const hasPrivatePool = (): boolean => {
		const directory = privateDirectory();
		return directory !== undefined && existsSync(path.join(directory, databaseName));
	};

	const canAnnounce = (): boolean =>
		attempt(() => {
			if (!isBelieved(sharedDirectory) || findUnsafeRecordLocation(sharedDirectory) !== undefined) {
				throw new Error('Its directory belongs to another account');
			}
		});

	return {
		sharedDirectory,
		databaseIn: (directory) => path.join(directory, databaseName),
		get privateDirectory() {
			const directory = privateDirectory();
			if (directory === undefined) {
				throw new CanhazgpuError('store-unreachable', 'This account has no home directory for a private pool', {
					hint: 'Set HOME or XDG_STATE_HOME to a directory of your own. For everybody: sudo canhazgpu admin',
				});
			}

			return directory;
		},
		lineHistory: state === undefined ? undefined : path.join(state, 'history'),
		get privateLabel() {
			return `PRIVATE pool of ${host.account.name}: nobody else sees these reservations. For everybody: sudo canhazgpu admin`;
		},
		facts: () => ({
			asked: config.get('store'),
			isRedisGiven: redisSettings.some((setting) => config.isGiven(setting)),
			recorded: readPoolRecord(announcement, 'machine'),
			// Most choices need no memory.
			get remembered() {
				const file = memory();
				return file === undefined ? undefined : readPoolRecord(file, 'user');
			},
			hasPrivatePool: hasPrivatePool(),
		}),
		remember(record) {
			// Only a help for the next time: a home that cannot be written is no reason to fail.
			attempt(() => {
				const file = memory();
				if (file !== undefined && JSON.stringify(readPoolRecord(file, 'user')) !== JSON.stringify(record)) {
					writePoolRecord(file, record, {directoryMode: 0o700, fileMode: 0o600});
				}
			});
		},
		canAnnounce,
		announce: (record) =>
			canAnnounce() &&
			attempt(() => {
				// An embedded pool looks after its directory itself.
				if (record.store === 'redis') {
					keepOthersOut(sharedDirectory, [path.basename(announcement), databaseName]);
				}

				writePoolRecord(announcement, record, {directoryMode: 0o755, fileMode: 0o644});
			}),
		checkAnnounceable() {
			// Another account that announces nothing still has a pool of its own, or remembers its location.
			let unsafe: UnsafeLocation | undefined;
			try {
				unsafe = isRoot(host.account) ? findUnsafeRecordLocation(sharedDirectory) : undefined;
			} catch {
				// Nothing can be announced in a directory that the file system does not show.
			}

			if (unsafe !== undefined) {
				throw new CanhazgpuError('store-unreachable', `Cannot make ${announcement}: it ${unsafe.problem}`, {
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
