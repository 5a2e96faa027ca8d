/*
Loaded before the program (`node --import`): it is killed by SIGKILL right before the call with the number CANHAZGPU_TEST_KILL_AT, of all calls by
which it reads or changes the database or a file.
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
			// Of files, those of the pool: by path or by descriptor.
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
