import process from 'node:process';
import type * as sqliteModule from 'node:sqlite';
import {CanhazgpuError} from '../../errors.js';

type Sqlite = typeof sqliteModule;

/**
Loads SQLite when it is first needed, without the warning that it is experimental; every other warning goes through.

@throws CanhazgpuError `store-refused` when this Node has none.
*/
export function loadSqlite(): Sqlite {
	const {emitWarning} = process;
	process.emitWarning = (warning: string | Error, ...rest: unknown[]) => {
		if (!String(warning).includes('SQLite')) {
			Reflect.apply(emitWarning, process, [warning, ...rest]);
		}
	};

	try {
		// Not `import`: it would go on after this function, and so would the silence.
		const sqlite = process.getBuiltinModule('node:sqlite') as Sqlite | undefined;
		if (sqlite === undefined) {
			throw new CanhazgpuError('store-refused', 'This Node.js has no SQLite', {hint: 'Use Node.js 22.15 or later.'});
		}

		return sqlite;
	} finally {
		process.emitWarning = emitWarning;
	}
}
