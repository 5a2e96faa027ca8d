/** Other hosts with given answers. */
import {fromCommandRows} from '../../../source/format/hosts/remote-gpu.js';
import type {SeenHost} from '../../../source/tui/ports.js';

type Row = Readonly<Record<string, unknown>>;

/** A GPU in the format of `status --json`. */
export const remoteRow = (index: number, more: Row = {}): Row => ({
	gpu_id: index,
	status: 'AVAILABLE',
	gpu_model: 'A100-SXM4-80GB',
	uuid: `GPU-${index}`,
	memory_used_mb: 0,
	memory_total_mb: 81_920,
	utilization: 0,
	temperature: 30 + index,
	processes: [],
	...more,
});

export const held = (index: number, user: string, more: Row = {}): Row =>
	remoteRow(index, {
		status: 'IN_USE',
		user,
		type: 'MANUAL',
		duration: '1h 0m 0s',
		remaining_seconds: 7200,
		lease_id: `lease-${user}`,
		...more,
	});

const statusOf = (rows: readonly Row[]) => ({gpus: fromCommandRows(rows, 1_800_000_000)!, waitingCount: 0});

/** A host that answered. */
export const answered = (name: string, rows: readonly Row[], answeredMs = 1000, waitingCount = 0): SeenHost => ({
	name,
	answer: {status: {...statusOf(rows), waitingCount}},
	answeredMs,
});

/** A host that has stopped answering, or never answered. */
export const failed = (
	name: string,
	error: string,
	before?: {readonly rows: readonly Row[]; readonly answeredMs: number},
): SeenHost => ({
	name,
	answer: {error: `${name}: ${error}`},
	answeredMs: 1000,
	before: before && {answer: {status: statusOf(before.rows)}, answeredMs: before.answeredMs},
});
