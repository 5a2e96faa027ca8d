import {beyondLimit, waitTimedOut, takenBack} from '../core/rules/leases/audit-entries.js';
import {needText, wantedInstanceText} from '../core/rules/allocation/impossible.js';
import {sizeText} from '../core/rules/request/memory-size.js';
import type {AuditEntry, AuditKind, AuditRecord} from '../core/model/types.js';
import {instancesJson, instancesText} from './instances.js';
import {needJson} from './json/need-json.js';
import {shownVia} from './text/note.js';
import {clockTime, eventTime} from './text/days.js';
import {optionalTimestamp, roughDuration, timestamp, typedDuration} from './text/durations.js';
import {gpuList} from './text/gpu-list.js';
import {counted} from './text/numbers.js';
import {sanitize, shorten} from './text/text.js';

const longestText = 80;

const harmless = (text: string): string => shorten(sanitize(text), longestText);

const nameText = (name: string | undefined): string => (name === undefined ? 'an unknown user' : harmless(name));

/** Returns the account with its label, `alice (team)`. Omits the label if it is the owner's, and somebody else caused the event. */
const whoText = ({account, label, owner}: AuditRecord): string =>
	nameText(account) + (label === undefined || owner !== undefined ? '' : ` (${harmless(label)})`);

/** Returns the account that held the GPUs, which may differ from the account that ended the lease. */
const holderText = ({owner, ...record}: AuditRecord): string =>
	whoText(owner === undefined ? record : {...record, account: owner});

const ofOwner = ({owner}: AuditRecord): string => (owner === undefined ? '' : ` of ${harmless(owner)}`);

/** Returns the GPUs, or only their number if they are unknown. Slurm forgets the GPUs of a job that has ended. */
const gpusOrCount = ({gpus, count = gpus.length}: AuditRecord): string =>
	gpus.length > 0 ? gpuList(gpus) : counted(count, 'GPU');

/** Returns what was requested: `2 GPUs`, `a share of 8G of GPU 2`, `1 GPU with 40G or more` or `1 MIG instance of 1g.10gb or larger`. */
function wantedText(record: AuditRecord): string {
	const {memoryMiB, need, count = record.gpus.length} = record;
	if (need?.mig !== undefined) {
		return harmless(wantedInstanceText(need.mig, count));
	}

	const wanted = `${gpusOrCount(record)} ${harmless(needText({...need, shareMiB: undefined}))}`.trimEnd();
	return memoryMiB === undefined ? wanted : `a share of ${sizeText(memoryMiB)} of ${wanted}`;
}

const memoryText = (amountMiB: number | undefined): string =>
	amountMiB === undefined ? 'unknown memory' : sizeText(amountMiB);

/** Returns what is held: `GPU 2`, `a share of 8G of GPU 2` or `MIG instances 2:0, 2:1`. */
const heldText = (record: AuditRecord): string =>
	record.instances === undefined ? wantedText(record) : instancesText(record.instances);

const leftText = ({until, time}: AuditRecord): string | undefined =>
	until === undefined || until - time < 1 ? undefined : typedDuration(Math.floor(until - time));

const isOnePart = ({instances, gpus}: AuditRecord): boolean => (instances ?? gpus).length === 1;

function grantText(record: AuditRecord): string {
	const {owner, reason, forced} = record;
	const left = leftText(record);
	const isOne = isOnePart(record);
	const isBack = reason !== undefined && ['restored', takenBack, 'undone'].includes(reason);
	return [
		`${whoText(record)} got ${heldText(record)}`,
		owner === undefined ? '' : ` for ${harmless(owner)}`,
		isBack ? ' back' : reason === undefined || reason === beyondLimit ? '' : `, for ${harmless(reason)}`,
		left === undefined ? '' : ` for ${left}`,
		reason === 'restored' ? ` after the store had lost ${isOne ? 'it' : 'them'}` : '',
		reason === takenBack ? `, which ${isOne ? 'was' : 'were'} still in use` : '',
		forced === true ? ', by force' : '',
		reason === beyondLimit ? ', beyond its limit while nobody else waits' : '',
	].join('');
}

const endings: Readonly<Record<string, string>> = {
	exited: 'the job ended',
	signalled: 'a signal ended the job',
	timeout: 'the job was stopped at its time limit',
	'holder-died': 'its process was gone',
	'heartbeat-lost': 'its heartbeat stopped',
	reboot: 'the machine was restarted',
	'pool-reset': 'the pool was created again',
	'queue-left': 'its request left the queue or continued without the GPUs',
	'taken-by-earlier': 'an entry ahead in the queue took the GPUs it held',
	'holder-stopped': 'the waiting process was stopped, and another entry took the GPUs it held',
	reclaimed: 'still idle after a warning, so back in the pool',
	'over-limit': 'a limit keeps it waiting, and another entry took the GPUs it held',
	'beyond-limit': 'beyond its limit, and somebody else was waiting',
	drained: 'the other GPUs it waits for are out of service, and another entry took the GPUs it held',
};

const agoText = ({time, until}: AuditRecord): string =>
	until === undefined || time - until < 60 ? '' : ` ${roughDuration(time - until)} ago`;

export const endingText = (reason: string): string =>
	(Object.hasOwn(endings, reason) ? endings[reason] : undefined) ?? harmless(reason);

const endText = (record: AuditRecord): string =>
	`${holderText(record)} no longer has ${heldText(record)}: ${endingText(record.reason ?? '')}${agoText(record)}`;

function leaveText(record: AuditRecord): string {
	const {owner, reason} = record;
	if (owner !== undefined) {
		return `${nameText(record.account)} took ${harmless(owner)} out of the queue`;
	}

	const why = reason === undefined ? '' : `: ${endingText(reason)}`;
	return `${whoText(record)} left the queue${why}`;
}

const afterColon = (text: string | undefined): string => (text === undefined ? '' : `: ${harmless(text)}`);

const formerReason = ({reason, before}: AuditRecord): string =>
	before?.reason === undefined || before.reason === reason
		? ''
		: `, which was already out of service: ${harmless(before.reason)}`;

const poolText = ({count, provider}: Pick<AuditRecord, 'count' | 'provider'>): string =>
	[
		count === undefined ? undefined : counted(count, 'GPU'),
		provider === undefined ? undefined : `(${harmless(provider)})`,
	]
		.filter((part) => part !== undefined)
		.join(' ');

function changedPoolText(record: AuditRecord): string {
	const {reason, until, before = {}} = record;
	const now = poolText(record);
	if (reason === 'restored') {
		const asOf = until === undefined ? '' : `, as it was at ${eventTime(until, record.time)}`;
		return `${whoText(record)} restored the pool after the store had lost it: ${now}${asOf}`;
	}

	const was = poolText(before);
	const moved = before.location === undefined ? '' : `, which was in ${harmless(before.location)}`;
	const change = was === '' ? now : was === now ? `${now}, as before` : `from ${was} to ${now}`;
	return `${whoText(record)} ${reason === 'remade' ? 'recreated' : 'created'} the pool${moved}: ${change}`;
}

function policyText(record: AuditRecord): string {
	const {key = 'all', value, before} = record;
	const was = before?.value === undefined ? '' : `, which was ${harmless(before.value)}`;
	return value === undefined
		? `${whoText(record)} unset ${key === 'all' ? 'the whole policy, which could not be read' : `${harmless(key)} in the policy${was}`}`
		: `${whoText(record)} set ${harmless(key)}=${harmless(value)} in the policy${was}`;
}

function unreservedText({account, owner, gpus, until, time}: AuditRecord): string {
	const left =
		until === undefined ? '' : `: left by a job of ${nameText(owner)} that ended at ${clockTime(until, time)}`;
	return `${nameText(account)} uses ${gpuList(gpus)} without a reservation${left}`;
}

function idleText(record: AuditRecord): string {
	const {until, reason, time} = record;
	if (reason === undefined) {
		const when = until === undefined ? '' : ` at ${clockTime(until, time)}`;
		return `${holderText(record)} is not using ${heldText(record)}, which ${isOnePart(record) ? 'goes' : 'go'} back to the pool${when} unless used`;
	}

	if (reason === 'kept' && until !== undefined) {
		return `${whoText(record)} keeps ${heldText(record)}${ofOwner(record)} until ${clockTime(until, time)} even if idle`;
	}

	const why = Object.hasOwn(withdrawals, reason) ? withdrawals[reason] : harmless(reason);
	return `${holderText(record)} keeps ${heldText(record)}: ${why}`;
}

function beyondLimitText(record: AuditRecord): string {
	const {until, reason, time} = record;
	if (reason === undefined) {
		const when = until === undefined ? '' : ` at ${clockTime(until, time)}`;
		return `${holderText(record)} is beyond its limit with ${heldText(record)}, which ${isOnePart(record) ? 'goes' : 'go'} back to the pool${when}, because somebody else is waiting`;
	}

	return `${holderText(record)} keeps ${heldText(record)}: ${reason === 'unwanted' ? 'nobody else is waiting any more' : harmless(reason)}`;
}

const withdrawals: Readonly<Record<string, string>> = {
	used: 'in use again',
	kept: 'kept by its owner',
	unknown: 'its use is unknown, so its idle time starts again',
	policy: 'idle.after was raised',
};

const jobEnds: ReadonlyMap<string, string> = new Map([
	['completed', 'completed'],
	['failed', 'failed'],
	['timeout', 'was stopped at its time limit'],
	['cancelled', 'was cancelled'],
	['lost', 'was lost'],
]);

const facts: Readonly<Record<AuditKind, (record: AuditRecord) => string>> = {
	granted: grantText,
	held: (record) => `${whoText(record)} holds ${heldText(record)} while waiting for more`,
	released: (record) => `${whoText(record)} released ${heldText(record)}${ofOwner(record)}`,
	extended: (record) =>
		`${whoText(record)} extended ${heldText(record)}${ofOwner(record)}: ${leftText(record) ?? 'no time'} left`,
	expired: (record) => `${holderText(record)}'s reservation of ${heldText(record)} expired${agoText(record)}`,
	ended: endText,
	refused: (record) =>
		record.reason === waitTimedOut
			? `${whoText(record)} gave up waiting for ${wantedText(record)}`
			: `${whoText(record)} asked for ${wantedText(record)} and got nothing${afterColon(record.reason)}`,
	joined: (record) =>
		`${whoText(record)} joined the queue for ${wantedText(record)}${record.reason === 'restored' ? ' again, after the store had lost the entry' : ''}`,
	left: leaveText,
	drained: (record) =>
		`${whoText(record)} took ${gpuList(record.gpus)} out of service${afterColon(record.reason)}${formerReason(record)}`,
	undrained: (record) => `${whoText(record)} put ${gpuList(record.gpus)} back into service${formerReason(record)}`,
	policy: policyText,
	pool: changedPoolText,
	unreserved: unreservedText,
	squatter: (record) =>
		`${nameText(record.account)} uses ${gpuList(record.gpus)}, which ${nameText(record.owner)} has reserved`,
	overuse: (record) =>
		record.reason === undefined
			? `${whoText(record)} uses ${memoryText(record.usedMiB)} of ${gpuList(record.gpus)}, more than its share of ${memoryText(record.memoryMiB)}`
			: `${whoText(record)} is back within the share of ${memoryText(record.memoryMiB)} of ${gpuList(record.gpus)}`,
	idle: idleText,
	'beyond-limit': beyondLimitText,
	health: ({gpus, reason}) =>
		reason === undefined
			? `${gpuList(gpus)} is healthy again`
			: `${gpuList(gpus)} is unhealthy (${harmless(reason)}) and will not be handed out`,
	submitted: ({jobId = '', count = 1, value, ...record}) =>
		value === 'again'
			? `${whoText(record)} started ${count === 1 ? 'job' : `${count} jobs of array`} ${harmless(jobId)} again`
			: `${whoText(record)} submitted ${count === 1 ? `job ${harmless(jobId)}` : `array ${harmless(jobId)} with ${count} jobs`}`,
	finished: ({jobId = '', value = '', reason, ...record}) =>
		`job ${harmless(jobId)} of ${holderText(record)} ${jobEnds.get(value) ?? 'has ended'}${afterColon(reason)}`,
	notice: ({reason}) => harmless(reason ?? 'something happened'),
};

/** Returns a sanitized sentence, `alice released GPU 2, in the browser`, with the note. */
export const eventText = (record: AuditRecord): string =>
	[
		facts[record.kind](record),
		record.via === undefined ? '' : record.via === 'web' ? ', in the browser' : `, via ${shownVia(record.via)}`,
		record.note === undefined ? '' : ` · ${harmless(record.note)}`,
	].join('');

export const eventLine = (record: AuditRecord, now: number): string =>
	`${eventTime(record.time, now)} ${eventText(record)}`;

/** Returns one object of `canhazgpu events --json`, without unset values. */
export const eventJson = (entry: AuditEntry) => ({
	id: entry.id,
	time: timestamp(entry.time),
	kind: entry.kind,
	account: entry.account,
	label: entry.label,
	owner: entry.owner,
	host: entry.host,
	gpus: entry.gpus,
	mig_instances: entry.instances && instancesJson(entry.instances),
	count: entry.count,
	need: entry.need && needJson(entry.need),
	memory_mb: entry.memoryMiB,
	memory_used_mb: entry.usedMiB,
	provider: entry.provider,
	key: entry.key,
	value: entry.value,
	before: entry.before,
	lease_id: entry.leaseId,
	entry_id: entry.entryId,
	job_id: entry.jobId,
	forced: entry.forced,
	until: optionalTimestamp(entry.until),
	reason: entry.reason,
	note: entry.note,
	via: shownVia(entry.via),
	words: eventText(entry),
});
