/** Finds a redis-server or valkey-server, and downloads one if there is none. */
import {accessSync, constants, globSync} from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import {fileURLToPath} from 'node:url';
import {ensureProgram, installPackage, unpackPackage} from './apt.js';

export type RedisProgram = {
	readonly command: string;
	readonly environment: NodeJS.ProcessEnv;
};

const names = ['redis-server', 'valkey-server'];
const cache = fileURLToPath(new URL('../../../node_modules/.cache/redis', import.meta.url));

const isProgram = (file: string): boolean => {
	try {
		accessSync(file, constants.X_OK);
		return true;
	} catch {
		return false;
	}
};

function onPath(): RedisProgram | undefined {
	const directories = [...(process.env['PATH'] ?? '').split(path.delimiter), '/usr/bin', '/usr/local/bin'];
	const command = directories
		.flatMap((directory) => names.map((name) => path.join(directory, name)))
		.find((file) => isProgram(file));
	return command === undefined ? undefined : {command, environment: process.env};
}

/** Returns the server that an earlier run unpacked, with its own libraries. */
function inCache(): RedisProgram | undefined {
	const command = path.join(cache, 'usr/bin/redis-server');
	if (!isProgram(command)) {
		return undefined;
	}

	const libraries = globSync([`${cache}/usr/lib/*-linux-*`, `${cache}/lib/*-linux-*`]);
	return {command, environment: {...process.env, LD_LIBRARY_PATH: libraries.join(':')}};
}

/** Finds a server without downloading anything. */
export const findRedis = (): RedisProgram | undefined => onPath() ?? inCache();

/** Unpacks the package and its libraries into node_modules/.cache. */
export const unpack = (): void => {
	unpackPackage('redis-server', cache, /^(?:redis|lib|lua)[\w+\-.]*$/v);
};

/** Unpacks a server if none is found. */
export const ensureRedis = (): RedisProgram =>
	ensureProgram({name: 'redis-server', install: 'apt-get install redis-server, or: brew install redis'}, findRedis, [
		() => {
			installPackage('redis-server');
		},
		unpack,
	]);
