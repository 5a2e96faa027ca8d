import type {ConnectionOptions} from 'node:tls';
import type {RedisOptions} from 'ioredis';
import {CanhazgpuError} from '../../errors.js';

export type RedisAddress = {
	readonly host: string;
	readonly port: number;
	readonly db: number;
	/** `redis://` or `rediss://`. Overrides the other fields. */
	readonly url?: string;
	readonly username?: string;
	readonly password?: string;
	/** Path of a Unix socket, which replaces host and port. */
	readonly socket?: string;
	readonly tls?: boolean | ConnectionOptions;
	readonly passwordHint?: string;
	/** The file that names this server for everyone on the machine. */
	readonly namedIn?: string;
};

export type Endpoint = {
	/** The name for error messages, such as `Redis at localhost:6379`. */
	readonly name: string;
	readonly location: string;
	readonly shell: string;
	readonly db: number;
	readonly passwordHint?: string;
	readonly namedIn?: string;
	readonly options: RedisOptions;
};

/** Returns the error for an invalid URL, without the URL, which can contain a password. */
const badUrl = (problem: string): CanhazgpuError =>
	new CanhazgpuError('config', `redis.url ${problem}`, {hint: 'Write redis://[user:password@]host[:port][/db]'});

/** Splits the URL into the other fields. Throws `config` for an invalid URL. */
export function withUrl(address: RedisAddress): RedisAddress {
	if (address.url === undefined) {
		return address;
	}

	const url = URL.parse(address.url);
	if (url === null) {
		throw badUrl('is not an address');
	}

	if (url.protocol !== 'redis:' && url.protocol !== 'rediss:') {
		throw badUrl('begins with neither redis:// nor rediss://');
	}

	if (!/^\/?\d*$/v.test(url.pathname)) {
		throw badUrl('has a database that is not a number');
	}

	const part = (text: string): string | undefined => (text === '' ? undefined : decodeURIComponent(text));
	try {
		return {
			host: part(url.hostname.replaceAll(/[\[\]]/gv, '')) ?? address.host,
			port: Number(part(url.port) ?? address.port),
			db: Number(part(url.pathname.slice(1)) ?? address.db),
			username: part(url.username) ?? address.username,
			password: part(url.password) ?? address.password,
			tls: url.protocol === 'rediss:' ? (typeof address.tls === 'object' ? address.tls : true) : address.tls,
			passwordHint: address.passwordHint,
		};
	} catch {
		throw badUrl('has a % that does not start an escape such as %40');
	}
}

type RedisLocation = Pick<RedisAddress, 'host' | 'port' | 'db' | 'socket'>;

const loopback = new Set(['localhost', '127.0.0.1', '::1']);

const hostOf = (host: string): string => (loopback.has(host.toLowerCase()) ? 'localhost' : host.toLowerCase());

/** Whether both locations are the same server, so that both may get the same credentials. All names in `loopback` count as the same host. */
export const isSameServer = (a: RedisLocation, b: RedisLocation): boolean =>
	a.socket === undefined && b.socket === undefined
		? a.port === b.port && hostOf(a.host) === hostOf(b.host)
		: a.socket === b.socket;

export function withoutSecrets(given: RedisAddress): RedisLocation {
	const {host, port, db, socket} = withUrl(given);
	return {host, port, db, socket};
}

export function locationOf({host, port, db, socket}: RedisLocation): string {
	return `redis ${nameOf({host, port, socket})}/${db}`;
}

const nameOf = ({host, port, socket}: Pick<RedisAddress, 'host' | 'port' | 'socket'>): string =>
	socket ?? `${host.includes(':') ? `[${host}]` : host}:${port}`;

function shellOf({host, port, db, socket, tls}: RedisLocation & Pick<RedisAddress, 'tls'>): string {
	const place =
		socket === undefined
			? [hostOf(host) !== 'localhost' && `-h ${host}`, port !== 6379 && `-p ${port}`]
			: [`-s ${socket}`];
	return ['redis-cli', ...place, tls !== undefined && tls !== false && '--tls', db !== 0 && `-n ${db}`]
		.filter(Boolean)
		.join(' ');
}

/** Returns the names and options of a server. Throws `config` for an invalid URL. */
export function endpointOf(given: RedisAddress): Endpoint {
	const {host, port, db, username, password, socket, tls, passwordHint} = withUrl(given);
	return {
		namedIn: given.namedIn,
		name: `Redis at ${nameOf({host, port, socket})}`,
		location: locationOf({host, port, db, socket}),
		shell: shellOf({host, port, db, socket, tls}),
		db,
		passwordHint,
		options: {
			...(socket === undefined ? {host, port} : {path: socket}),
			db,
			username,
			password,
			tls: tls === true ? {} : tls === false ? undefined : tls,
		},
	};
}
