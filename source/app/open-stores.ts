/** Opens stores as they are configured, once it is known which. */
import type {Config} from '../config/config.js';
import type {SettingPath} from '../config/schema.js';
import type {Store} from '../core/model/ports.js';
import type {PoolRecord} from '../core/model/types.js';
import {isSameServer, locationOf} from '../store/redis/address.js';
import type {Audience} from '../store/sqlite/index.js';
import type {Locations} from './locations.js';

type Context = {readonly config: Config; readonly locations: Locations};

type RedisRecord = Extract<PoolRecord, {store: 'redis'}>;

/** A user who gives one of these means a Redis, wherever it is. */
export const credentials: readonly SettingPath[] = ['redis.username', 'redis.password', 'redis.password_file'];

/** In the form of a config file. */
const settingsOf = ({host, port, db, socket}: RedisRecord): string =>
	socket === undefined
		? `redis: {host: "${host}", port: ${port}, db: ${db}}`
		: `redis: {socket: "${socket}", db: ${db}}`;

/** The configured Redis, or the recorded one: with the configured credentials where the configuration names that server, and else with none. */
export async function openRedis(
	{config, locations}: Context,
	keepReconnecting: boolean,
	record?: RedisRecord,
): Promise<Store> {
	const {openRedisStore} = await import('../store/redis/index.js');
	const configured = locations.redisRecord();
	const isTrusted = record === undefined || isSameServer(record, configured);
	const passwordFile = config.get('redis.password_file');
	const password = async (): Promise<string | undefined> => {
		if (passwordFile === undefined) {
			return config.get('redis.password');
		}

		const {readPasswordFile} = await import('../store/redis/password-file.js');
		return readPasswordFile(passwordFile);
	};

	const isWithheld = !isTrusted && credentials.some((setting) => config.isGiven(setting));
	return openRedisStore({
		host: record?.host ?? config.get('redis.host')!,
		port: record?.port ?? config.get('redis.port')!,
		db: record?.db ?? config.get('redis.db')!,
		url: record === undefined ? config.get('redis.url') : undefined,
		socket: record === undefined ? config.get('redis.socket') : record.socket,
		username: isTrusted ? config.get('redis.username') : undefined,
		password: isTrusted ? await password() : undefined,
		tls: config.get('redis.tls')!,
		keepReconnecting,
		passwordHint: isWithheld
			? `The configured password was not sent: it is for ${locationOf(configured)}, and another place is recorded for this machine's pool. If that is right, write beside the password: ${settingsOf(record)}`
			: undefined,
	});
}

/** The pool in this directory; it is made for an audience, if one is given. */
export async function openEmbedded({locations}: Context, directory: string, newFor?: Audience): Promise<Store> {
	const [{openSqliteStore}, {deferTerminalStop}] = await Promise.all([
		import('../store/sqlite/index.js'),
		import('../host/job/terminal-stop.js'),
	]);
	deferTerminalStop();
	return openSqliteStore({path: locations.databaseIn(directory), create: newFor !== undefined, ...newFor});
}

/** This user's own pool. */
export const openPrivate = async (context: Context, create: boolean): Promise<Store> =>
	openEmbedded(
		context,
		context.locations.privateDirectory,
		create ? {directoryMode: 0o700, fileMode: 0o600} : undefined,
	);
