/** The commands, in the order of the help. The module of a command is loaded only when that command is used. */
import type {Command} from '../command-line/command.js';

type Loader = () => Promise<Command>;

export const commands: Readonly<Record<string, Loader>> = {
	top: async () => (await import('./top/top.js')).top,
	status: async () => (await import('./status/status.js')).status,
	run: async () => (await import('./run.js')).run,
	reserve: async () => (await import('./reserve.js')).reserve,
	extend: async () => (await import('./extend.js')).extend,
	release: async () => (await import('./release.js')).release,
	queue: async () => (await import('./queue.js')).queue,
	who: async () => (await import('./who.js')).who,
	jobs: async () => (await import('./jobs/jobs.js')).jobs,
	logs: async () => (await import('./jobs/logs.js')).logs,
	cancel: async () => (await import('./jobs/cancel.js')).cancel,
	wait: async () => (await import('./jobs/wait.js')).wait,
	retry: async () => (await import('./jobs/retry.js')).retry,
	report: async () => (await import('./report.js')).report,
	web: async () => (await import('./web.js')).web,
	notify: async () => (await import('./notify.js')).notify,
	keep: async () => (await import('./keep.js')).keep,
	mcp: async () => (await import('./mcp/mcp.js')).mcp,
	events: async () => (await import('./events.js')).events,
	doctor: async () => (await import('./doctor.js')).doctor,
	completion: async () => (await import('./completion.js')).completion,
	admin: async () => (await import('./admin/admin.js')).admin,
};
