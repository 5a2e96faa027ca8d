/**
Opens stores as they are configured, once it is known which.
*/
import type {Config} from './config.js';
import type {Store} from './core/ports.js';
import type {PoolRecord} from './core/types.js';
import type {Places} from './app-places.js';

type Context = {readonly config: Config; readonly places: Places};

/** The configured Redis, or the recorded one with the configured credentials. */
export async function openRedis(
	{config}: Context,
	isPatient: boolean,
	record?: Extract<PoolRecord, {store: 'redis'}>,
): Promise<Store> {
	const {openRedisStore} = await import('./store/redis/index.js');
	const {readPasswordFile} = await import('./store/redis/password-file.js');
	const passwordFile = config.get('redis.password_file');
	return openRedisStore({
		host: record?.host ?? config.get('redis.host')!,
		port: record?.port ?? config.get('redis.port')!,
		db: record?.db ?? config.get('redis.db')!,
		url: record === undefined ? config.get('redis.url') : undefined,
		socket: record === undefined ? config.get('redis.socket') : record.socket,
		username: config.get('redis.username'),
		password: passwordFile === undefined ? config.get('redis.password') : readPasswordFile(passwordFile),
		tls: config.get('redis.tls')!,
		patient: isPatient,
	});
}

type EmbeddedOptions = {readonly create?: boolean; readonly directoryMode?: number; readonly fileMode?: number};

/** The pool in this directory. */
export async function openEmbedded(
	{places}: Context,
	directory: string,
	options: EmbeddedOptions = {},
): Promise<Store> {
	const {openSqliteStore} = await import('./store/sqlite/index.js');
	return openSqliteStore({path: places.databaseIn(directory), create: false, ...options});
}

/** This user's own pool. */
export const openPrivate = async (context: Context, create: boolean): Promise<Store> =>
	openEmbedded(context, context.places.privateDirectory, {create, directoryMode: 0o700, fileMode: 0o600});
