import type {ProcessIdentity, Silence} from '../../core/model/types.js';
import type {Fields} from './json/fields.js';

type ProcessPrefix = 'pid' | 'job_pid';

/** The field names by prefix. Building the names for each record would make reading and writing several times as slow. */
const namesOf = {
	pid: {startTicks: 'pid_start', namespace: 'pid_ns', timeNamespace: 'pid_time_ns', group: 'pid_group'},
	job_pid: {
		startTicks: 'job_pid_start',
		namespace: 'job_pid_ns',
		timeNamespace: 'job_pid_time_ns',
		group: 'job_pid_group',
	},
} as const;

export function readProcess(fields: Fields, prefix: ProcessPrefix): ProcessIdentity | undefined {
	const names = namesOf[prefix];
	const pid = fields.whole(prefix);
	const startTicks = fields.whole(names.startTicks);
	const namespace = fields.text(names.namespace);
	const timeNamespace = fields.text(names.timeNamespace);
	const group = fields.whole(names.group);
	return pid === undefined
		? undefined
		: {
				pid,
				...(startTicks !== undefined && {startTicks}),
				...(namespace !== undefined && {namespace}),
				...(timeNamespace !== undefined && {timeNamespace}),
				...(group !== undefined && {group}),
			};
}

export const holderFields = (process: ProcessIdentity) => ({
	pid: process.pid,
	pid_start: process.startTicks,
	pid_ns: process.namespace,
	pid_time_ns: process.timeNamespace,
	pid_group: process.group,
});

export const jobFields = (process: ProcessIdentity) => ({
	job_pid: process.pid,
	job_pid_start: process.startTicks,
	job_pid_ns: process.namespace,
	job_pid_time_ns: process.timeNamespace,
	job_pid_group: process.group,
});

/** The beginning of the boot id that version 0.1.0 stored if it could not read the real one. The machine id follows. */
const unreadBootId = 'no-boot-id-';

export function readBoot(fields: Fields): string | undefined {
	const bootId = fields.text('boot_id');
	return bootId?.startsWith(unreadBootId) === true ? undefined : bootId;
}

/** Reads the watch for a missing heartbeat. An unreadable watch is ignored: another watch then begins, and the holder keeps its GPU. */
export function readSilence(fields: Fields): Silence | undefined {
	const silence = fields.object('silence');
	const clock = silence?.anyText('clock');
	const seconds = silence?.anyNumber('seconds');
	const since = silence?.anyNumber('since');
	const lastHeartbeat = silence?.anyNumber('last_heartbeat');
	return clock === undefined || seconds === undefined || since === undefined
		? undefined
		: {clock, seconds, since, ...(lastHeartbeat !== undefined && {lastHeartbeat})};
}

export const silenceRecord = (silence: Silence | undefined): Readonly<Record<string, unknown>> | undefined =>
	silence && {
		clock: silence.clock,
		seconds: silence.seconds,
		since: silence.since,
		last_heartbeat: silence.lastHeartbeat,
	};
