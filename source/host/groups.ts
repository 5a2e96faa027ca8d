import {CanhazgpuError} from '../errors.js';
import {runTool} from './spawn.js';

/**
The gid of a group by its name, from the group database (files, LDAP, ...).

@throws CanhazgpuError `usage` when there is no such group.
*/
export async function groupId(name: string): Promise<number> {
	const {stdout, exitCode} = await runTool('getent', ['group', '--', name], {timeoutMs: 5000});
	// NAME:password:GID:members
	const gid = exitCode === 0 ? Number(stdout.split(':', 3)[2]) : NaN;
	if (!Number.isSafeInteger(gid)) {
		throw new CanhazgpuError('usage', `There is no group ${JSON.stringify(name)} on this machine`, {
			hint: `Make it with: groupadd ${name}`,
		});
	}

	return gid;
}
