import {existsSync} from 'node:fs';
import {effectiveUid} from '../../security/safe-file.js';
import {ownUid} from '../accounts/users.js';
import {runSystemTool} from '../tool/system-tool.js';

export type LogoutSurvival = {
	/** Whether the user's systemd runs and stays after the last logout (linger). */
	readonly hasLinger: boolean;
	/** Whether systemd-logind kills the processes of a session at its end. Undefined if unknown. */
	readonly killsProcesses: boolean | undefined;
};

/** Asks systemd-logind whether jobs survive a logout. Never rejects. Without systemd-logind, nothing ends jobs at a logout. */
export async function readLogoutSurvival(): Promise<LogoutSurvival> {
	const uid = ownUid() ?? effectiveUid();
	const ask = async (...args: readonly string[]): Promise<ReadonlyMap<string, string>> => {
		const {stdout} = await runSystemTool('loginctl', args, {timeoutMs: 2000, maxBytes: 65_536});
		return new Map(stdout.split('\n').map((line) => line.split('=', 2) as [string, string]));
	};

	if (!existsSync('/run/systemd/system') || uid === undefined) {
		return {hasLinger: false, killsProcesses: undefined};
	}

	const [user, manager] = await Promise.all([
		ask('show-user', String(uid), '--property=Linger'),
		ask('show-session', '--property=KillUserProcesses'),
	]);
	const kills = manager.get('KillUserProcesses');
	return {
		hasLinger: user.get('Linger') === 'yes' && existsSync(`/run/user/${uid}/systemd/private`),
		killsProcesses: kills === undefined ? undefined : kills === 'yes',
	};
}
