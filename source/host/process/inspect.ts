import type {FactsOfProcesses, ProcessFacts} from '../../core/model/types.js';
import {runSystemTool} from '../tool/system-tool.js';
import {createUsers, ownUid} from '../accounts/users.js';
import {hasEnded, readStat} from './proc.js';
import {ownerOfProcess} from './files.js';
import {createProcessDescriber} from './details.js';

/** Reads facts about processes from /proc right before an action. Omits ended and hidden processes. Never rejects. Takes up to 3 s. */
export async function inspectProcesses(pids: readonly number[]): Promise<FactsOfProcesses> {
	const details = await createProcessDescriber({users: createUsers(), run: runSystemTool})(pids);
	return new Map(
		[...details].flatMap(
			([pid, {startTicks, user, name, commandLine}]): ReadonlyArray<readonly [number, ProcessFacts]> => {
				const owner = ownerOfProcess(pid);
				// Read last: if another process got the pid in the meantime, the start time differs.
				const stat = readStat(pid);
				return typeof stat === 'object' && !hasEnded(stat) && stat.startTicks === startTicks
					? [[pid, {pid, startTicks, isOwn: owner !== undefined && owner === ownUid(), user, name, commandLine}]]
					: [];
			},
		),
	);
}
