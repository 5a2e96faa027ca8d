/** `GET /api/occupancy`: who had each GPU, and until when it is reserved. */
import type {Occupancy} from '../../core/operations/history/occupancy.js';
import {timestamp} from '../../format/text/durations.js';
import {shownNote} from '../../format/text/text.js';

export const occupancyJson = ({window, gpuCount, spans}: Occupancy) => ({
	since: timestamp(Math.floor(window.from)),
	until: timestamp(Math.floor(window.to)),
	gpu_count: gpuCount,
	spans: spans.map((span) => ({
		gpu_id: span.gpuId,
		user: span.user,
		actual_user: span.account === span.user ? undefined : span.account,
		start_time: timestamp(Math.floor(span.startTime)),
		end_time: timestamp(Math.floor(span.endTime)),
		reservation_type: span.type,
		note: shownNote(span.note),
		lease_id: span.leaseId,
		memory_mb: span.memoryMiB,
		// Greater than one if several short leases are too close together to be drawn separately.
		lease_count: span.leaseCount,
		is_held: span.isLive,
		ends_by: span.endsBy === undefined ? undefined : timestamp(Math.floor(span.endsBy)),
	})),
});

export type OccupancyJson = ReturnType<typeof occupancyJson>;
