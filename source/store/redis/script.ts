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
Replaces `CONSTANT.` and a name in a script by the value. As arguments, constants would be sent and parsed with each call.
@throws RangeError for an unknown name, a bug of the script.
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
