import {createWakeSignal} from '../core/operations/waiting/wake-signal.js';
import {readForDisplay} from '../core/operations/transact.js';
import type {AuditEntry} from '../core/model/types.js';
import {eventJson, eventLine} from '../format/events.js';
import {harmlessJson, harmlessJsonLine} from '../format/text/json.js';
import {sanitize} from '../format/text/text.js';
import type {App, OpenWorld} from '../app/contract.js';
import {CanhazgpuError, isTransient, quoted} from '../errors.js';
import type {Command, Input} from '../command-line/command.js';
import {jsonFlag, usualDurations} from './shared/common-flags.js';
import {parseSince} from './shared/time-of-day.js';
import {withWorld} from './shared/with-world.js';

const mostShown = 50;

/** Maximum time in ms until --follow notices that a reservation has expired. */
const tickMs = 5000;

const awayTickMs = 500;

type Followed = {
	readonly app: App;
	readonly world: OpenWorld;
	readonly wakeSignal: ReturnType<typeof createWakeSignal>;
	readonly afterId: string | undefined;
	readonly show: (entries: readonly AuditEntry[]) => void;
};

/** Prints new events until the process ends. Continues after outages of the store. */
async function follow({app, world, wakeSignal, afterId, show}: Followed): Promise<never> {
	const {store, clock} = world;
	const {signal} = new AbortController();
	let lastId = afterId;
	let readAtMs = clock.monotonicMs();
	let isAway = false;
	for (;;) {
		await wakeSignal.wait(clock, isAway ? awayTickMs : tickMs, signal);
		try {
			if (isAway || clock.monotonicMs() - readAtMs >= tickMs) {
				readAtMs = clock.monotonicMs();
				await readForDisplay(world);
			}

			const entries = await store.audit({afterId: lastId});
			lastId = entries.at(-1)?.id ?? lastId;
			isAway = false;
			show(entries);
		} catch (error) {
			if (!isTransient(error)) {
				throw error;
			}

			if (!isAway) {
				app.remark(`${sanitize(error.message)}. Still trying.`);
			}

			isAway = true;
		}
	}
}

/** The largest number of events to ask for. No store keeps more. */
const mostKept = 10_000;

function countOf(input: Input): number | undefined {
	const typed = input.text('count');
	if (typed === undefined) {
		return undefined;
	}

	const count = /^\d{1,5}$/v.test(typed) ? Number(typed) : 0;
	if (count < 1 || count > mostKept) {
		throw new CanhazgpuError('usage', `--count must be a whole number from 1 to ${mostKept}, not ${quoted(typed)}`);
	}

	return count;
}

export const events: Command = {
	name: 'events',
	summary: 'Show what happened in the pool, when, and who did it',
	usage: '[--follow] [--count COUNT] [--since WHEN] [--user NAME] [--json]',
	examples: [
		['canhazgpu events', `the ${mostShown} newest events`],
		['canhazgpu events --since 2h --user alice', 'events of one user in the last two hours'],
		['canhazgpu events --follow --json', 'new events as lines of JSON'],
	],
	flags: {
		follow: {shortFlag: 'f', summary: 'keep printing new events until Ctrl-C'},
		count: {
			shortFlag: 'n',
			value: 'COUNT',
			summary: `show only the newest COUNT events (default: ${mostShown}, or all with --since)`,
		},
		since: {
			value: 'WHEN',
			summary: 'show events since this time, such as 2h (ago), 7d, 2026-05-01 or 2026-05-01T18:30',
			completes: usualDurations,
		},
		user: {shortFlag: 'u', value: 'NAME', summary: 'show only events of this account or label', completes: 'users'},
		json: jsonFlag,
	},
	async run(app, input) {
		const since = input.text('since');
		const from = since === undefined ? undefined : parseSince(since);
		const count = countOf(input);
		const user = input.text('user');
		const isFollowing = input.has('follow');
		const isMeant = ({account, label, owner}: AuditEntry): boolean =>
			user === undefined || [account, label, owner].includes(user);
		return withWorld(app, {keepReconnecting: isFollowing}, async (world) => {
			const wakeSignal = createWakeSignal();
			if (isFollowing) {
				// Subscribes before the first read, so that no later change is missed.
				await world.store.subscribe({changed: wakeSignal.wake, lost: wakeSignal.wake, restored: wakeSignal.wake});
			}

			const {now} = await readForDisplay(world);
			// Reads the newest id without the filter. If no event matches the filter, --follow still needs an id after which to continue.
			const newest = isFollowing ? (await world.store.audit({newest: 1})).at(-1) : undefined;
			const known = await world.store.audit(
				from === undefined
					? {newest: user === undefined ? (count ?? mostShown) : undefined}
					: {fromTime: 'time' in from ? from.time : now - from.seconds},
			);
			const shown = count ?? (from === undefined ? mostShown : undefined);
			const wanted = known.filter((entry) => isMeant(entry)).slice(shown === undefined ? 0 : -shown);
			if (input.has('json') && !isFollowing) {
				app.print(harmlessJson(wanted.map((entry) => eventJson(entry))));
				return 0;
			}

			const show = (entries: readonly AuditEntry[]): void => {
				for (const entry of entries) {
					app.print(
						input.has('json')
							? harmlessJsonLine(eventJson(entry))
							: eventLine(entry, Math.max(now, entries.at(-1)!.time)),
					);
				}
			};

			if (wanted.length === 0 && !isFollowing) {
				app.remark('No events were found');
			}

			show(wanted);
			return isFollowing
				? follow({
						app,
						world,
						wakeSignal,
						afterId: (known.at(-1) ?? newest)?.id,
						show(entries) {
							show(entries.filter((entry) => isMeant(entry)));
						},
					})
				: 0;
		});
	},
};
