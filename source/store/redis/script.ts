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
import {entryKeyPrefix, eventChannel, gpuKeyPrefix, jobKeyPrefix, keys} from './keys.js';
import valueLua from './lua/value.lua';

const constants: Readonly<Record<string, string | number>> = {
	...keys,
	gpuPrefix: gpuKeyPrefix,
	entryPrefix: entryKeyPrefix,
	jobPrefix: jobKeyPrefix,
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

/** Replaces `CONSTANT.NAME` with its value. Values passed as arguments would be parsed again with each call. Throws RangeError (a bug) for an unknown name. */
export const withConstants = (lua: string): string =>
	lua.replaceAll(/CONSTANT\.(?<name>\w+)/gv, (_, name: string) => {
		const value = constants[name];
		if (value === undefined) {
			throw new RangeError(`There is no constant ${name}`);
		}

		// A text that consists only of these characters is written in the same way in Lua and in JSON.
		return JSON.stringify(value);
	});

/** Like {@link withConstants}, for a script that calls the function of value.lua. */
export const readingScript = (lua: string): string => withConstants(`${valueLua}\n${lua}`);
