import process from 'node:process';
import type * as sqliteModule from 'node:sqlite';
import {CanhazgpuError} from '../../errors.js';

type Sqlite = typeof sqliteModule;

/** Loads SQLite on first use, without Node's warning that it is experimental. Throws `store-refused` if Node has no SQLite. */
export function loadSqlite(): Sqlite {
	const {emitWarning} = process;
	process.emitWarning = (warning: string | Error, ...rest: unknown[]) => {
		if (!String(warning).includes('SQLite')) {
			Reflect.apply(emitWarning, process, [warning, ...rest]);
		}
	};

	try {
		// `import` would finish after this function, when warnings are shown again.
		const sqlite = process.getBuiltinModule('node:sqlite') as Sqlite | undefined;
		if (sqlite === undefined) {
			throw new CanhazgpuError('store-refused', 'This Node.js has no SQLite', {hint: 'Use Node.js 22.15 or later.'});
		}

		return sqlite;
	} finally {
		process.emitWarning = emitWarning;
	}
}
