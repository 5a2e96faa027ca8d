import {newEvents} from '../core/live/audit-feed.js';
import {startLiveView, type LiveState} from '../core/live/live-view.js';
import type {AuditEntry} from '../core/model/types.js';
import {idleRulesOf} from '../core/rules/policy/idle-rules.js';
import {policyDoubtOf, policyValue, type StoredPolicy} from '../core/rules/policy/policy.js';
import {CanhazgpuError, isOutage} from '../errors.js';
import {eventLine} from '../format/events.js';
import {isReturn} from '../format/returns.js';
import {typedDuration} from '../format/text/durations.js';
import {sanitize} from '../format/text/text.js';
import type {App, OpenWorld} from '../app/contract.js';
import type {Command} from '../command-line/command.js';
import {keepReminding} from './shared/reminding.js';
import {keepHeapSmall} from './shared/small-heap.js';

/** Time in ms between scans. Some scans may fail, because idle times start from zero only after five minutes without a scan. */
const scanMs = 30_000;
const retryMs = 5000;

const isAboutReturn = (entry: AuditEntry): boolean =>
	entry.kind === 'idle' || entry.kind === 'beyond-limit' || isReturn(entry);

/** Opens the pool. Returns undefined if Redis has no pool yet, because the kind of its GPUs is then unknown. */
async function openPool(app: App): Promise<OpenWorld | undefined> {
	const world = await app.open({keepReconnecting: true});
	let hasPool = false;
	try {
		hasPool = world.engine !== undefined || (await world.store.read()).pool !== undefined;
	} finally {
		if (!hasPool) {
			await world.close();
		}
	}

	return hasPool ? world : undefined;
}

async function openPatiently(app: App, signal: AbortSignal): Promise<OpenWorld | undefined> {
	const say = problemPrinter(app, '');
	while (!signal.aborted) {
		try {
			const world = await openPool(app);
			if (world !== undefined) {
				return world;
			}

			say('Redis has no GPU pool yet. Waiting for it.');
		} catch (error) {
			if (!(error instanceof CanhazgpuError && isOutage(error))) {
				throw error;
			}

			say(`${sanitize(error.message)}. Waiting for it.`);
		}

		await app.clock.sleep(retryMs, signal).catch(() => undefined);
	}

	return undefined;
}

function idleText(snapshot: StoredPolicy): string {
	const doubt = policyDoubtOf(snapshot, ['idle.after', 'idle.grace', 'idle.when', 'idle.keep-max']);
	if (doubt !== undefined) {
		return `Idle GPUs do not go back to the pool, because the policy is damaged: ${sanitize(doubt.problem)}\n${sanitize(doubt.fix)}`;
	}

	const rules = idleRulesOf(snapshot);
	return rules === undefined
		? 'Idle GPUs do not go back to the pool until an administrator sets a time: canhazgpu admin --set idle.after=1h'
		: `Owners of GPUs that are idle for ${typedDuration(rules.afterSeconds)} get a warning. The GPUs go back to the pool ${typedDuration(rules.graceSeconds)} later${rules.isOnlyWanted ? ', once somebody is waiting for them' : ''}`;
}

function policyText(snapshot: StoredPolicy): string {
	const idle = idleText(snapshot);
	return policyValue(snapshot, 'limits.slack') === 'on'
		? `${idle}\nGPUs beyond the limit of their account also go back after a warning, if somebody else is waiting for them`
		: idle;
}

function blindText({reason, hint}: NonNullable<LiveState['blind']>): string {
	const problem = `The GPUs cannot be read, so idle ones do not go back: ${sanitize(reason)}`;
	return hint === undefined ? problem : `${problem}\n${sanitize(hint)}`;
}

/** Returns a function that prints problems, and `end` after the last of them. Prints each problem once, because two problems can alternate. */
function problemPrinter({remark}: App, end: string): (problem: string | undefined) => void {
	const printed = new Set<string>();
	return (problem) => {
		if (problem === undefined && printed.size > 0) {
			printed.clear();
			remark(end);
		} else if (problem !== undefined && !printed.has(problem)) {
			printed.add(problem);
			remark(problem);
		}
	};
}

/** Watches the pool until the signal is aborted. Prints the policy when it changes, and what happens to idle reservations. */
async function watch(app: App, world: OpenWorld, signal: AbortSignal): Promise<void> {
	const ended = Promise.withResolvers<void>();
	const gpus = await world.watchGpus(scanMs);
	const stopReminding = keepReminding(app, world, app.remark);
	const view = startLiveView(world, {
		watched: {gpus, clock: world.clock},
		intervals: {watchedMs: scanMs, unwatchedMs: scanMs},
		mostEvents: 50,
		recordsAlerts: true,
		endsOnLastingError: true,
		broken: ended.reject,
	});
	let policy: string | undefined;
	let known: readonly AuditEntry[] | undefined;
	const sayStore = problemPrinter(app, 'The store can be reached again.');
	const sayScans = problemPrinter(app, 'The GPUs can be read again.');
	view.subscribe(({snapshot, lost, blind, events, eventsProblem, now}, change) => {
		switch (change) {
			case 'store-lost': {
				sayStore(lost && `The store cannot be reached: ${sanitize(lost.reason)}. Waiting for it.`);
				break;
			}

			case 'scan': {
				sayScans(blind && blindText(blind));
				break;
			}

			case 'snapshot': {
				sayStore(undefined);
				const words = snapshot && policyText(snapshot);
				if (words !== undefined && words !== policy) {
					app.print(words);
					policy = words;
				}

				break;
			}

			case 'events': {
				if (eventsProblem === undefined) {
					const newer = known === undefined ? [] : newEvents(events, known);
					known = events;
					for (const entry of newer) {
						if (isAboutReturn(entry)) {
							app.print(eventLine(entry, now));
						}
					}
				}
			}
			// No default
		}
	});
	const stop = (): void => {
		ended.resolve();
	};

	signal.addEventListener('abort', stop);
	try {
		keepHeapSmall();
		if (!signal.aborted) {
			await ended.promise;
		}
	} finally {
		signal.removeEventListener('abort', stop);
		view.stop();
		await stopReminding();
	}
}

export const keep: Command = {
	name: 'keep',
	summary: 'Watch the pool and return idle GPUs to it',
	usage: '',
	examples: [
		['canhazgpu keep', 'until you press Ctrl-C'],
		['sudo systemctl enable --now canhazgpu-keep', 'as a service'],
	],
	flags: {},
	notes: [
		'Open monitors, dashboards and waiting requests do the same. No GPU goes back before an administrator sets idle.after: see canhazgpu help reclaim.',
	],
	async run(app) {
		const interruption = app.interruption();
		try {
			const world = await openPatiently(app, interruption.signal);
			if (world === undefined) {
				return 0;
			}

			try {
				if (world.engine !== undefined) {
					throw new CanhazgpuError(
						'usage',
						'keep does not work with Slurm, which decides itself when GPUs are released',
						{
							hint: 'canhazgpu keep is for pools without Slurm.',
						},
					);
				}

				await watch(app, world, interruption.signal);
				return 0;
			} finally {
				await world.close();
			}
		} finally {
			interruption.end();
		}
	},
};
