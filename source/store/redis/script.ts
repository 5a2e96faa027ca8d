/** Constants of the scripts read.lua and commit.lua: keys that are the same in every pool, and limits. */
import {auditCap} from '../decode-audit.js';
import {
	changeSeconds,
	historySeconds,
	historyWindowSeconds,
	mostLastUsers,
	recentCount,
	trimCount,
} from '../raw-plan.js';
import {mostGpus} from '../records/index.js';
import {entryKeyPrefix, eventChannel, gpuKeyPrefix, keys} from './keys.js';

const constants: Readonly<Record<string, string | number>> = {
	...keys,
	gpuPrefix: gpuKeyPrefix,
	entryPrefix: entryKeyPrefix,
	eventChannel,
	mostGpus,
	recentCount,
	mostLastUsers,
	changeSeconds,
	historySeconds,
	historyWindowSeconds,
	trimCount,
	auditCap,
};

/**
Puts the constants into a script, each where `CONSTANT.` and its name stand. As arguments they would be sent, read and kept again with each call.

@throws RangeError for a name that there is not; that is a bug of the script.
*/
export const withConstants = (lua: string): string =>
	lua.replaceAll(/CONSTANT\.(?<name>\w+)/gv, (_, name: string) => {
		const value = constants[name];
		if (value === undefined) {
			throw new RangeError(`There is no constant ${name}`);
		}

		// A text of these letters is written in Lua as in JSON.
		return JSON.stringify(value);
	});
