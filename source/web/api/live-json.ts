/** Encodes the messages of the event stream: first the whole state, then only changed parts. Each message is encoded once for all pages. */
import {newEvents} from '../../core/live/audit-feed.js';
import {idleRulesOf, offeredKeepSeconds} from '../../core/rules/policy/idle-rules.js';
import {recentLoss} from '../../core/rules/pool/alerts.js';
import {typedDuration} from '../../format/text/durations.js';
import {dataLossText} from '../../format/data-loss.js';
import {policyProblemText, policySetText} from '../../format/policy.js';
import {isOwnReturn, returnText} from '../../format/returns.js';
import {eventText} from '../../format/events.js';
import {eventTime} from '../../format/text/days.js';
import type {AuditEntry} from '../../core/model/types.js';
import {offersShares, type Wish} from '../../core/operations/engine.js';
import {usualDurationSeconds} from '../../core/rules/request/request.js';
import {inventory} from '../../core/rules/allocation/instances.js';
import {wholeGpus} from '../../core/rules/pool/status.js';
import {freeLines} from '../../format/instances.js';
import type {LiveState} from '../../core/live/live-view.js';
import {apiJson} from './json.js';
import {eventWith, type ShownCommands} from './commands.js';
import {contextOf, gpuJson, waitersJson, type GpuJson} from './status-json.js';

export type About = {
	readonly host: string;
	readonly version: string;
	readonly location: string | undefined;
	readonly privateLabel: string | undefined;
	readonly engine?: 'slurm' | undefined;
	readonly lacks?: ReadonlySet<Wish> | undefined;
	readonly isDemo: boolean;
	/** False if this host has no pool. The page then shows only other hosts. */
	readonly hasPool: boolean;
	readonly hosts: readonly string[];
	/** The account in whose name the page makes changes. Undefined for a read-only page. */
	readonly actsAs?: string | undefined;
	readonly usualSeconds?: number | undefined;
};

type Encoder = {
	readonly whole: (now: number) => string;
	/** Returns the parts that changed since the previous message. Returns undefined if nothing changed. */
	readonly change: (liveView: LiveState) => string | undefined;
};

export type FeedJson = {readonly live: boolean; readonly reason?: string; readonly since_ms?: number};

const milliseconds = (seconds: number): number => Math.round(seconds * 1000);

const eventJson = ({note, ...event}: AuditEntry) => ({
	id: event.id,
	time_ms: milliseconds(event.time),
	kind: event.kind,
	words: eventText(event),
	note,
});

export type EventJson = ReturnType<typeof eventJson>;

const eventsPart = (events: readonly AuditEntry[], commands: ShownCommands): [name: string, json: string] => [
	'events',
	apiJson(events.map((event) => eventJson(eventWith(event, commands)))),
];

function storeWarnings(snapshot: LiveState['snapshot']): readonly string[] {
	const loss = snapshot && recentLoss(snapshot);
	return [
		loss && dataLossText(loss, (seconds) => eventTime(seconds, snapshot.now)),
		snapshot && policyProblemText(snapshot),
	].filter((words) => words !== undefined);
}

/** For how many seconds the page warns its account that one of its reservations went back to the pool. */
const returnedSeconds = 3600;

const returnWarnings = ({events, now}: LiveState, account: string | undefined): readonly string[] =>
	events
		.filter((event) => isOwnReturn(event, account) && now - event.time < returnedSeconds)
		.map(({gpus, reason}) => returnText(gpus, reason));

const feedJson = (isRead: boolean, failure: {readonly reason: string; readonly since: number} | undefined): FeedJson =>
	failure === undefined ? {live: isRead} : {live: false, reason: failure.reason, since_ms: milliseconds(failure.since)};

function offerOf({snapshot, observation, rows}: LiveState, {lacks, actsAs, usualSeconds}: About) {
	if (actsAs === undefined) {
		return {};
	}

	const instances = inventory(observation?.gpus ?? [], snapshot?.gpus ?? []);
	const whole = wholeGpus(rows);
	const words = freeLines(whole, instances);
	return {
		offers_shares: offersShares(lacks, snapshot),
		usual_seconds: usualSeconds === usualDurationSeconds ? undefined : usualSeconds,
		keep_time: snapshot && idleRulesOf(snapshot) && typedDuration(offeredKeepSeconds(snapshot)),
		mig:
			words.length === 0
				? undefined
				: {count: instances.reduce((sum, {total}) => sum + total, 0), split: whole.split, words},
	};
}

const sharedParts = (liveView: LiveState, about: About, commands: ShownCommands) => {
	const {snapshot, observation, lost, blind} = liveView;
	return {
		about: {
			host: about.host,
			version: about.version,
			location: about.location,
			private_label: about.privateLabel,
			engine: about.engine,
			lacks: about.lacks && [...about.lacks],
			...offerOf(liveView, about),
			demo: about.isDemo,
			has_pool: about.hasPool,
			hosts: about.hosts,
			provider: snapshot?.pool?.provider,
			simulated: observation?.simulated,
			driver: observation?.driverVersion,
			policy: snapshot && policySetText(snapshot),
			acts_as: about.actsAs,
			hides_models: commands === 'full' ? undefined : true,
		},
		store: feedJson(snapshot !== undefined, lost),
		scan: feedJson(observation !== undefined, blind && {...blind, reason: `${blind.reason} ${blind.hint ?? ''}`}),
		warnings: [...returnWarnings(liveView, about.actsAs), ...storeWarnings(snapshot), ...(observation?.warnings ?? [])],
		queue: waitersJson(liveView),
	};
};

export type AboutJson = ReturnType<typeof sharedParts>['about'];

/** The data of two kinds of messages: `state` has every part, and `change` has only the parts that changed. */
export type LiveJson = Partial<ReturnType<typeof sharedParts>> & {
	readonly now_ms: number;
	/** The number of GPUs. The page removes GPUs whose index is not below this number. */
	readonly gpu_count: number;
	readonly gpus: readonly GpuJson[];
	readonly events?: readonly EventJson[];
};

function partsOf(liveView: LiveState, about: About, commands: ShownCommands): ReadonlyMap<string, string> {
	const context = contextOf(liveView, commands);
	const parts: Array<readonly [string, unknown]> = [
		...Object.entries(sharedParts(liveView, about, commands)),
		...liveView.rows.map((row) => [`gpu ${row.index}`, gpuJson(row, context)] as const),
	];
	return new Map(parts.map(([name, value]) => [name, apiJson(value)]));
}

function compose(parts: Iterable<readonly [string, string]>, now: number, gpuCount: number): string {
	const gpus: string[] = [];
	const members = [`"now_ms":${milliseconds(now)}`, `"gpu_count":${gpuCount}`];
	for (const [name, json] of parts) {
		if (name.startsWith('gpu ')) {
			gpus.push(json);
		} else {
			members.push(`"${name}":${json}`);
		}
	}

	return `{${[...members, `"gpus":[${gpus.join(',')}]`].join(',')}}`;
}

export function createEncoder(first: LiveState, about: () => About, commands: ShownCommands): Encoder {
	let parts = partsOf(first, about(), commands);
	let {rows, events} = first;
	return {
		whole: (now) => compose([...parts, eventsPart(events, commands)], now, rows.length),
		change(liveView) {
			const before = parts;
			const countBefore = rows.length;
			const added = newEvents(liveView.events, events);
			parts = partsOf(liveView, about(), commands);
			({rows, events} = liveView);
			const changed = [...parts].filter(([name, json]) => before.get(name) !== json);
			if (added.length > 0) {
				changed.push(eventsPart(added, commands));
			}

			return changed.length === 0 && rows.length === countBefore
				? undefined
				: compose(changed, liveView.now, rows.length);
		},
	};
}
