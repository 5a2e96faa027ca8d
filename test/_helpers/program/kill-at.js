/*
Preloaded with `node --import`. Kills the process with SIGKILL right before call number CANHAZGPU_TEST_KILL_AT, counting all calls that read or change
the database or a file.
*/
import fs from 'node:fs';
import {syncBuiltinESMExports} from 'node:module';
import process from 'node:process';
import sqlite from 'node:sqlite';

const last = Number(process.env.CANHAZGPU_TEST_KILL_AT);
const directory = process.env.CANHAZGPU_POOL_DIRECTORY;
let calls = 0;

const count = (owner, names) => {
	for (const name of names) {
		const real = owner[name];
		owner[name] = function (...parameters) {
			// Counts only files of the pool, by path or by descriptor.
			const [file] = parameters;
			const isOurs = owner !== fs || typeof file === 'number' || String(file).startsWith(directory);
			if (isOurs && ++calls === last) {
				process.kill(process.pid, 'SIGKILL');
			}

			return Reflect.apply(real, this, parameters);
		};
	}
};

count(sqlite.DatabaseSync.prototype, ['exec', 'close']);
count(sqlite.StatementSync.prototype, ['run', 'get', 'all']);
count(fs, ['mkdirSync', 'openSync', 'writeFileSync', 'renameSync', 'chmodSync', 'fchmodSync', 'chownSync']);
syncBuiltinESMExports();
