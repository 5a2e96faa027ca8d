import {CanhazgpuError, quoted} from '../../errors.js';
import {runSystemTool} from '../tool/system-tool.js';

/** Returns the gid of a group, from the group database (files, LDAP, ...). Throws `usage` if there is no such group. */
export async function groupId(name: string): Promise<number> {
	const {stdout, exitCode} = await runSystemTool('getent', ['group', '--', name], {timeoutMs: 5000});
	// Format: NAME:password:GID:members
	const gid = exitCode === 0 ? Number(stdout.split(':', 3)[2]) : NaN;
	if (!Number.isSafeInteger(gid)) {
		throw new CanhazgpuError('usage', `There is no group ${quoted(name)} on this machine`, {
			hint: `Make it with: groupadd ${name}`,
		});
	}

	return gid;
}
