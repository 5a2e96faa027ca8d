import type {Config} from '../config/config.js';
import type {SettingPath} from '../config/schema.js';
import type {Store} from '../core/model/ports.js';
import type {PoolRecord} from '../core/model/types.js';
import {CanhazgpuError, codeOf, hasCode, messageOf} from '../errors.js';
import {isSameServer, locationOf, withUrl} from '../store/redis/address.js';
import type {Audience} from '../store/sqlite/index.js';
import type {Locations} from './locations.js';

type Context = {readonly config: Config; readonly locations: Locations};

type RedisRecord = Extract<PoolRecord, {store: 'redis'}>;

/** Settings that show that the user wants Redis. */
export const credentials: readonly SettingPath[] = ['redis.username', 'redis.password', 'redis.password_file'];

const settingsOf = ({host, port, db, socket}: RedisRecord): string =>
	socket === undefined
		? `redis: {host: "${host}", port: ${port}, db: ${db}}`
		: `redis: {socket: "${socket}", db: ${db}}`;

/**
Opens the configured or recorded Redis. Sends credentials only to the server that the configuration names.

@param namedIn - The file with the record, for the hint if Redis cannot be reached.
*/
export async function openRedis(
	{config}: Context,
	keepReconnecting: boolean,
	record?: RedisRecord,
	namedIn?: string,
): Promise<Store> {
	const {openRedisStore} = await import('../store/redis/index.js');
	const passwordFile = config.get('redis.password_file');
	const tlsFiles = {
		authority: config.get('redis.tls_ca_cert_file'),
		certificate: config.get('redis.tls_cert_file'),
		key: config.get('redis.tls_key_file'),
	};
	const loadFiles = async () => import('../store/redis/secret-files.js');
	const hasTlsFiles = Object.values(tlsFiles).some((file) => file !== undefined);
	const tls = hasTlsFiles ? (await loadFiles()).readTlsFiles(tlsFiles) : config.get('redis.tls')!;
	const configured = withUrl({
		host: config.get('redis.host')!,
		port: config.get('redis.port')!,
		db: config.get('redis.db')!,
		url: config.get('redis.url'),
		socket: config.get('redis.socket'),
		username: config.get('redis.username'),
		tls,
	});
	if (record === undefined || isSameServer(record, configured)) {
		return openRedisStore({
			...configured,
			...(record && {host: record.host, port: record.port, db: record.db, socket: record.socket}),
			password:
				configured.password ??
				(passwordFile === undefined
					? config.get('redis.password')
					: (await loadFiles()).readPasswordFile(passwordFile)),
			keepReconnecting,
			namedIn,
		});
	}

	const isWithheld = credentials.some((setting) => config.isGiven(setting));
	const {host, port, db, socket} = record;
	return openRedisStore({
		host,
		port,
		db,
		socket,
		// The scheme of redis.url decides whether to use TLS, but only for the server that redis.url names.
		tls,
		keepReconnecting,
		namedIn,
		passwordHint: isWithheld
			? `The configured password was not sent, because it is for ${locationOf(configured)}, but this machine's pool is in another Redis. If that Redis is right, add it to the settings: ${settingsOf(record)}`
			: undefined,
	});
}

/** Opens the embedded pool of a directory. If `newFor` is given, creates the pool for those accounts. */
export async function openEmbedded({locations}: Context, directory: string, newFor?: Audience): Promise<Store> {
	const [{openSqliteStore}, {deferTerminalStop}] = await Promise.all([
		import('../store/sqlite/index.js'),
		import('../host/job/terminal-stop.js'),
	]);
	deferTerminalStop();
	return openSqliteStore({path: locations.databaseIn(directory), create: newFor !== undefined, ...newFor});
}

const unusableDirectory = new Set(['EACCES', 'EPERM', 'EROFS', 'ENOENT', 'ENOTDIR', 'EEXIST']);

export async function openPrivate(context: Context, create: boolean): Promise<Store> {
	const directory = context.locations.privateDirectory;
	try {
		return await openEmbedded(context, directory, create ? {directoryMode: 0o700, fileMode: 0o600} : undefined);
	} catch (error) {
		const cause = hasCode(error, 'store-unreachable') ? error.cause : undefined;
		if (cause === undefined || !unusableDirectory.has(codeOf(cause) ?? '')) {
			throw error;
		}

		throw new CanhazgpuError('store-unreachable', messageOf(error), {
			hint: 'Set HOME or XDG_STATE_HOME to a directory of your own.',
			cause: error,
			needsCorrection: true,
		});
	}
}
