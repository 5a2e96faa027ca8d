import type {Config} from '../config/config.js';
import type {Host} from '../core/model/ports.js';
import type {Reminder} from '../core/operations/reminders.js';
import {harmlessJsonLine} from '../format/text/json.js';
import {reminderText} from '../format/reminder-text.js';
import {createNotifier} from '../host/accounts/notify.js';
import {runSystemTool} from '../host/tool/system-tool.js';
import {createUsers} from '../host/accounts/users.js';

const longestName = 256;

export async function notifyBy(
	config: Config,
	{hostname, account: own}: Host,
	reminder: Reminder,
	signal?: AbortSignal,
): Promise<readonly string[]> {
	const {kind, account, label, gpus, leaseId, remainingSeconds, memoryMiB, usedMiB, note} = reminder;
	const users = createUsers();
	// Refuses names without an account. A user of the pool could otherwise invent a name that the configured program reads as an option or a path.
	if (account !== own.name && !(await users.knows(account))) {
		return [`there is no account ${harmlessJsonLine(account.slice(0, longestName))} on this machine`];
	}

	const text = reminderText(reminder, hostname);
	const notify = createNotifier({
		usesTerminals: config.get('notify.terminals')!,
		command: config.get('notify.command'),
		webhook: config.get('notify.webhook'),
		run: runSystemTool,
		users,
	});
	const message = {
		account,
		text,
		json: harmlessJsonLine({
			kind,
			account,
			label,
			host: hostname,
			gpu_ids: gpus,
			lease_id: leaseId,
			remaining_seconds: remainingSeconds === undefined ? undefined : Math.round(remainingSeconds),
			memory_mb: memoryMiB,
			memory_used_mb: usedMiB,
			note,
			text,
		}),
	};
	return notify(message, signal);
}
