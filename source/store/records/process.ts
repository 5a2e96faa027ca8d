import type {ProcessIdentity} from '../../core/model/types.js';
import type {Fields} from './json/fields.js';

/** The fields that hold a process begin so. */
export type ProcessPrefix = 'pid' | 'job_pid';

/** Reads a process from the fields of its pid, start time and namespaces. */
export function readProcess(fields: Fields, prefix: ProcessPrefix): ProcessIdentity | undefined {
	const pid = fields.whole(prefix);
	const startTicks = fields.whole(`${prefix}_start`);
	const namespace = fields.text(`${prefix}_ns`);
	const timeNamespace = fields.text(`${prefix}_time_ns`);
	const group = fields.whole(`${prefix}_group`);
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

/** The same fields, to be written. */
export const processFields = (
	prefix: ProcessPrefix,
	process: ProcessIdentity | undefined,
): Readonly<Record<string, unknown>> => ({
	[prefix]: process?.pid,
	[`${prefix}_start`]: process?.startTicks,
	[`${prefix}_ns`]: process?.namespace,
	[`${prefix}_time_ns`]: process?.timeNamespace,
	[`${prefix}_group`]: process?.group,
});

/** Version 0.1.0 wrote this, and the machine-id, where it could not read the boot id. */
const unreadBootId = 'no-boot-id-';

/** The boot in which a record was written. Undefined: unknown. */
export function readBoot(fields: Fields): string | undefined {
	const bootId = fields.text('boot_id');
	return bootId?.startsWith(unreadBootId) === true ? undefined : bootId;
}
