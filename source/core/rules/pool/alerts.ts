/** Decides which alerts are active: unreserved use, use of a GPU that somebody else holds, and health problems. An alert is recorded once, not at every scan. */
import type {Write} from '../../model/plan.js';
import type {AuditRecord, Snapshot} from '../../model/types.js';
import type {Alert, DataLoss, ReturnNote} from '../../model/alerts.js';
import type {AuditContext} from '../leases/audit-entries.js';
import type {LeftByJob} from '../usage/left-processes.js';
import type {StatusRow} from './status.js';

/** How long interfaces show that the store has lost data. */
const lossSeconds = 86_400;

export const recentLoss = ({dataLoss, now}: Pick<Snapshot, 'dataLoss' | 'now'>): DataLoss | undefined =>
	dataLoss !== undefined && now - dataLoss.restoredAt < lossSeconds ? dataLoss : undefined;

/** How long the note about a returned reservation is kept if nobody can deliver it. */
const returnSeconds = 86_400;
/** The greatest number of kept notes, so that the record stays small. */
const mostReturns = 64;

const recentReturns = (returned: readonly ReturnNote[], now: number): readonly ReturnNote[] =>
	returned.filter(({endedAt}) => Math.abs(now - endedAt) < returnSeconds).slice(-mostReturns);

export const alertsWrite = (
	snapshot: Snapshot,
	{
		alerts = snapshot.alerts,
		baselines = snapshot.baselines,
		overuse = snapshot.overuse,
		returned = snapshot.returned ?? [],
	}: Partial<Pick<Snapshot, 'alerts' | 'baselines' | 'overuse' | 'returned'>>,
): Write => ({
	kind: 'alerts',
	alerts,
	dataLoss: recentLoss(snapshot),
	baselines,
	overuse,
	returned: recentReturns(returned, snapshot.now),
});

/** How long nothing is granted after a loss of data, so that holders can notice the loss and restore their leases. */
const pauseAfterLossSeconds = 5;

export function secondsUntilGrants({dataLoss, now}: Pick<Snapshot, 'dataLoss' | 'now'>): number {
	const seconds = dataLoss === undefined ? 0 : dataLoss.restoredAt + pauseAfterLossSeconds - now;
	// If the result is longer than the pause, the store's clock was set back after the restore. In this case, grants do not wait.
	return seconds > 0 && seconds <= pauseAfterLossSeconds ? seconds : 0;
}

/** Minimum duration of an alert, so that a problem that comes and goes is not reported repeatedly. */
const shortestSeconds = 600;

/** How long the kernel's log shows a problem that does not recur. */
const loggedSeconds = 86_400;

/** How long the processes of a GPU's previous holder may still run before they cause an alert. */
const graceSeconds = 60;

type Shown = {
	readonly alert: Alert;
	readonly words?: string;
	readonly left?: LeftByJob | undefined;
};

const keyOf = ({kind, gpu, account, owner, problem}: Alert): string =>
	JSON.stringify([kind, gpu, account, owner, problem]);

export function mergedAlerts(known: readonly Alert[], found: readonly Alert[]): readonly Alert[] {
	const keys = new Set(found.map((alert) => keyOf(alert)));
	return [...known.filter((alert) => !keys.has(keyOf(alert))), ...found];
}

const leftOf = ({left, processes}: Pick<StatusRow, 'left' | 'processes'>, account: string | undefined) =>
	processes.every((process) => process.user !== account || left?.processes.includes(process)) ? left : undefined;

function shownBy({index: gpu, ...row}: StatusRow, since: number): readonly Shown[] {
	const isSettled = (row.heldSeconds ?? row.sharesSettledSeconds ?? row.freeSeconds ?? Infinity) >= graceSeconds;
	const users = row.state === 'unreserved' && isSettled ? row.unreservedUsers : undefined;
	const squatters = isSettled ? row.squatters : [];
	const owner = row.owner ?? row.shares?.[0]?.owner;
	return [
		...(users?.length === 0 ? [undefined] : (users ?? [])).map((account): Shown => ({
			alert: {kind: 'unreserved', gpu, account, since},
			left: leftOf(row, account),
		})),
		...[...new Set(squatters.map(({user}) => user))].map((account): Shown => ({
			alert: {kind: 'squatter', gpu, account, owner, since},
		})),
		...row.health.map(({kind: problem, words}): Shown => ({alert: {kind: 'health', gpu, problem, since}, words})),
	];
}

type Options = AuditContext & {
	readonly seesKernelLog: boolean;
};

/** Whether the scan would show the problem of the alert if the problem still existed. An unknown reading ends no alert. */
function couldShow(
	{kind, problem, since}: Alert,
	{reading, use, processes}: StatusRow,
	{now, seesKernelLog}: Options,
): boolean {
	if (reading === undefined || reading.failure !== undefined) {
		return false;
	}

	if (kind === 'health') {
		// Only the log shows Xids. Other problems may come from the log or from the GPU tool.
		const isOutOfLog = problem !== 'xid' && now - since >= loggedSeconds;
		return problem === 'temperature' || seesKernelLog || isOutOfLog;
	}

	const areUsersKnown = reading.processes !== undefined && processes.every(({user}) => user !== undefined);
	return (use.kind === 'idle' && kind === 'unreserved') || (['idle', 'used'].includes(use.kind) && areUsersKnown);
}

type AlertChanges = {
	readonly standing: readonly Alert[];
	readonly audit: readonly AuditRecord[];
};

const recordOf = (
	{kind, gpu, account, owner}: Alert,
	{now, host}: Options,
	{words, left}: Pick<Shown, 'words' | 'left'> = {},
): AuditRecord => ({
	time: now,
	kind,
	account,
	owner: left?.account ?? owner,
	host,
	gpus: [gpu],
	reason: words,
	leaseId: left?.leaseId,
	until: left?.endedAt,
});

/** Compares the active alerts with a scan. `rows` must come from a successful scan, one for each GPU. Returns undefined if nothing changed. */
export function alertChanges(
	standing: readonly Alert[],
	rows: readonly StatusRow[],
	options: Options,
): AlertChanges | undefined {
	const {now} = options;
	const shown = new Map(rows.flatMap((row) => shownBy(row, now)).map((item) => [keyOf(item.alert), item]));
	const known = new Set(standing.map((alert) => keyOf(alert)));
	const ended = standing.filter((alert) => {
		const row = rows[alert.gpu];
		const isOver = row === undefined || (now - alert.since >= shortestSeconds && couldShow(alert, row, options));
		return isOver && !shown.has(keyOf(alert));
	});
	const staying = standing.filter((alert) => !ended.includes(alert));
	// An alert about unknown accounts is not raised if an alert for this GPU is already active, because the accounts may be the same.
	const isKnown = ({kind, gpu, account}: Alert): boolean =>
		account === undefined && kind === 'unreserved' && staying.some((other) => other.kind === kind && other.gpu === gpu);
	const begun = [...shown].filter(([key, {alert}]) => !known.has(key) && !isKnown(alert)).map(([, item]) => item);
	if (begun.length === 0 && ended.length === 0) {
		return undefined;
	}

	const hasHealthLeft = (gpu: number): boolean => staying.some((alert) => alert.kind === 'health' && alert.gpu === gpu);
	const healed = new Map(
		ended
			.filter(({kind, gpu}) => kind === 'health' && rows[gpu] !== undefined && !hasHealthLeft(gpu))
			.map((alert) => [alert.gpu, alert]),
	);
	return {
		standing: [...staying, ...begun.map(({alert}) => alert)],
		audit: [
			...begun.map(({alert, words, left}) => recordOf(alert, options, {words, left})),
			...healed.values().map((alert) => recordOf(alert, options)),
		],
	};
}
