import type {OwnLimits} from '../../core/model/other-hosts.js';
import type {QueueEntry} from '../../core/model/types.js';
import {engineReasonText} from '../engine/engine-reasons.js';
import {noteCell, shownVia} from '../text/note.js';
import {holderText} from '../owner.js';
import {clockTime} from '../text/days.js';
import {longDuration, optionalTimestamp, timestamp} from '../text/durations.js';
import type {Paint} from '../text/paint.js';
import {ruledTable, type Sacrifices} from '../text/table.js';
import {blockerJson, blockersText, estimateText, outageText, stuckText} from '../queue/why.js';
import {limitText, overLimitJson} from '../queue/over-limit.js';
import {absentWhenEmpty} from '../text/json.js';
import {sanitize, shorten, shownNote} from '../text/text.js';
import {wantedText} from '../queue/waiting-progress.js';
import {needJson} from '../json/need-json.js';
import {wantedOf} from '../../core/rules/queue/eligible.js';
import type {QueueRow} from '../../core/rules/queue/queue-rows.js';

const stuckLines = (rows: readonly QueueRow[]): readonly string[] =>
	rows.flatMap((row) => {
		const words = stuckText(row);
		return words === undefined ? [] : [`#${row.position} ${words}`];
	});

const sacrifices: Sacrifices = [
	['NOTE', 20],
	['TYPE', 0],
	['NOTE', 8],
	['BLOCKED BY', 29],
	['USER', 10],
	['ID', 9],
	['WAITED', 0],
	['NOTE', 0],
	['WANTS', 10],
	['ID', 0],
	['ESTIMATE', 10],
	['BLOCKED BY', 12],
	['BLOCKED BY', 0],
];

type TableOptions = {
	readonly now: number;
	readonly width?: number;
};

export const queueTable = (rows: readonly QueueRow[], paint: Paint, options: TableOptions): string =>
	[entriesTable(rows, paint, options), ...stuckLines(rows)].join('\n');

const entriesTable = (rows: readonly QueueRow[], paint: Paint, {now, width}: TableOptions): string =>
	ruledTable(
		['#', 'ID', 'USER', 'WANTS', 'GOT', 'TYPE', 'WAITED', 'ESTIMATE', 'BLOCKED BY', 'NOTE'],
		rows.map((row) => {
			const {entry} = row;
			const id = shorten(sanitize(row.id), 13);
			if (entry === undefined) {
				return [String(row.position), id, '-', 'unreadable entry', '-', '-', '-', '-', '-', '-'];
			}

			const wanted = wantedOf(entry);
			return [
				String(row.position),
				id,
				holderText(entry),
				wantedText(wanted),
				`${row.held.length}/${wanted.count}`,
				entry.reservationType.toUpperCase(),
				longDuration(row.waitedSeconds),
				estimateText(row),
				row.blockers.length === 0 ? '-' : blockersText(row.blockers, now, (time) => clockTime(time, now)),
				noteCell(entry, 60),
			];
		}),
		paint,
		{width, sacrifices},
	);

const nanosecondsPerSecond = 1e9;

const whole = (seconds: number | undefined): number | undefined =>
	seconds === undefined ? undefined : Math.ceil(seconds);

const wishJson = (entry: QueueEntry) => ({
	id: entry.id,
	user: entry.user,
	actual_user: entry.actualUser,
	requested_count: entry.requestedCount,
	requested_ids: entry.requestedIds,
	need: entry.need && needJson(entry.need),
	eligible_gpus: entry.eligible,
	reservation_type: entry.reservationType,
	expiry_duration: entry.expirySeconds === undefined ? undefined : entry.expirySeconds * nanosecondsPerSecond,
	duration_seconds: whole(entry.expirySeconds),
	time_limit_seconds: whole(entry.timeLimitSeconds),
	note: shownNote(entry.note),
	via: shownVia(entry.via),
	enqueue_time: timestamp(entry.enqueueTime),
	since: timestamp(entry.enqueueTime),
	last_heartbeat: timestamp(entry.lastHeartbeat),
	wait_timeout: optionalTimestamp(entry.waitTimeout),
});

/** Returns why an entry waits, if the reason is not another reservation: the words of an engine, or a limit of the policy. */
export function reasonJson({
	blockers,
	overLimit,
	agentLimit,
}: Pick<QueueRow, 'blockers' | 'overLimit' | 'agentLimit'>): {
	readonly reason?: string;
	readonly reason_words?: string;
} {
	const engine = blockers.find((blocker) => blocker.kind === 'engine');
	if (engine !== undefined) {
		return {reason: engine.reason, reason_words: engineReasonText(engine.reason)};
	}

	const words = limitText({overLimit, agentLimit});
	return words === undefined
		? {}
		: {reason: overLimit === undefined ? 'agents-max-gpus' : 'max-gpus', reason_words: words};
}

const waitJson = ({
	waitedSeconds,
	silentSeconds,
	outOfService,
	outages,
	estimateSeconds,
	blockers,
	overLimit,
	agentLimit,
}: QueueRow) => ({
	wait_seconds: Math.floor(waitedSeconds),
	silent_seconds: silentSeconds === undefined ? undefined : Math.floor(silentSeconds),
	out_of_service: absentWhenEmpty(outOfService),
	waits_for:
		outOfService.length === 0
			? undefined
			: outages.map((outage) => ({
					gpu_id: outage.gpu,
					instance: outage.mig?.number,
					kind: outage.kind,
					reason: outageText(outage),
					since: optionalTimestamp(outage.since),
				})),
	estimate: whole(estimateSeconds),
	estimate_seconds: whole(estimateSeconds),
	blocked_by: absentWhenEmpty(blockers.flatMap((blocker) => (blocker.kind === 'engine' ? [] : [blockerJson(blocker)]))),
	limit: overLimit && overLimitJson(overLimit),
	...reasonJson({blockers, overLimit, agentLimit}),
});

/** Returns `queue --json`: the keys of the Go program, and more keys. Skips unreadable entries. The limits are those of the caller. */
export function queueJson(rows: readonly QueueRow[], {room, mostSeconds}: OwnLimits = {}) {
	const entries = rows.flatMap((row) =>
		row.entry === undefined
			? []
			: [{...wishJson(row.entry), allocated_gpus: row.held, position: row.position, ...waitJson(row)}],
	);
	return {
		entries,
		total_waiting: entries.length,
		total_gpus_requested: entries.reduce(
			(sum, entry) => sum + Math.max(entry.requested_count, entry.requested_ids.length),
			0,
		),
		total_gpus_allocated: entries.reduce((sum, entry) => sum + entry.allocated_gpus.length, 0),
		own_limit: room && {max_gpus: room.mostGpus, left_gpus: room.leftGpus, slack: room.hasSlack || undefined},
		own_max_seconds: mostSeconds,
	};
}
