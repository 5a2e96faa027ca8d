import process from 'node:process';
import {createHostFeed} from '../../core/live/host-feed.js';
import {watchHosts, type KnownHost} from '../../core/live/host-watch.js';
import type {Clock} from '../../core/model/ports.js';
import {CanhazgpuError} from '../../errors.js';
import {fromCommandRows, type HostStatus} from '../../format/hosts/remote-gpu.js';
import {sanitize} from '../../format/text/text.js';
import type {App} from '../../app/contract.js';
import type {HostsPort} from '../../tui/ports.js';
import {answerFrom} from '../shared/hosts/ask-hosts.js';
import {namingReplaced} from './replaced.js';

/** The interval in ms at which hosts that failed or cannot be followed are asked again. */
const roundMs = 2000;

/** The shortest time in ms between updates that show who holds GPUs. */
const holdingUpdateMs = 250;
/** The shortest time in ms between updates that show only load. The monitor draws once a second. */
const loadMs = 1000;

const olderVersion = 'its canhazgpu is too old for status --follow, so it is asked for its status every 10 s';

function hostStatus(
	host: string,
	rows: ReadonlyArray<Readonly<Record<string, unknown>>>,
	more: Omit<HostStatus, 'gpus'>,
): HostStatus {
	const gpus = fromCommandRows(rows, Date.now() / 1000);
	if (gpus === undefined) {
		throw new CanhazgpuError('failed', `${host}: its answer is too long to show`);
	}

	return {gpus, ...more};
}

async function askOnce(app: App, host: string, signal?: AbortSignal): Promise<HostStatus> {
	const [rows, queue] = await Promise.all([
		app.remoteStatus(host, signal),
		// Older versions have no queue command.
		answerFrom(host, async () => app.remoteQueue(host, signal)),
	]);
	return hostStatus(host, rows, {waitingCount: 'error' in queue ? undefined : queue.entries.length});
}

/** Returns a text that identifies who holds which GPU, and whether the host answers. Such changes are shown sooner than changes of load. */
const holdingOf = ({answer}: KnownHost<HostStatus>): string =>
	'error' in answer
		? answer.error
		: JSON.stringify([
				answer.status.remark,
				answer.status.waitingCount,
				answer.status.gpus.map(({gpu_id: id, state, lease_id: lease, user, sharers, unreserved_users: users}) => [
					id,
					state,
					lease,
					user,
					sharers,
					users,
				]),
			]);

/** Waits for Enter, because the next frame would hide the output of ssh. */
async function untilEnter(): Promise<void> {
	const {stdin} = process;
	await new Promise<void>((resolve) => {
		stdin.resume();
		stdin.once('data', () => {
			stdin.pause();
			resolve();
		});
	});
}

type Options = {
	readonly app: App;
	readonly names: readonly string[];
	readonly clock: Pick<Clock, 'monotonicMs' | 'sleep'>;
	readonly broken: (error: unknown) => void;
};

export function createHostsPort({app, names, clock, broken}: Options): HostsPort & {readonly stop: () => void} {
	const feed = createHostFeed<HostStatus>({
		async open(name, onValue, signal) {
			const ending = new AbortController();
			let problem: unknown;
			const show: Parameters<App['followHost']>[1] = ({rows, account, waitingCount}) => {
				try {
					onValue(
						hostStatus(name, rows, {account: account === undefined ? undefined : sanitize(account), waitingCount}),
					);
				} catch (error) {
					problem = error;
					ending.abort();
				}
			};

			const ended = await namingReplaced(async () =>
				app.followHost(name, show, AbortSignal.any([signal, ending.signal])),
			).catch((error: unknown) => {
				throw problem ?? error;
			});
			return ended;
		},
		askOnce: async (name, signal) => ({
			...(await namingReplaced(async () => askOnce(app, name, signal))),
			remark: olderVersion,
		}),
		onUpdate(name) {
			watch.refresh(name);
		},
		clock,
		broken,
	});
	const watch = watchHosts<HostStatus>({names, clock, roundMs, broken, ask: feed.ask});
	return {
		watch(show) {
			let timer: NodeJS.Timeout | undefined;
			let dueMs = Infinity;
			let shownMs = clock.monotonicMs();
			let holdingShownMs = -Infinity;
			let hasHoldingUpdate = false;
			const shown = new Map<string, {readonly value: unknown; readonly holding: string}>();
			show(watch.known());
			const unsubscribe = watch.subscribe((host) => {
				const {name, answer} = host;
				const value = 'status' in answer ? answer.status : answer.error;
				const before = shown.get(name);
				if (before?.value === value) {
					return;
				}

				const holding = holdingOf(host);
				shown.set(name, {value, holding});
				const isHoldingUpdate = before?.holding !== holding;
				hasHoldingUpdate ||= isHoldingUpdate;
				const atMs = isHoldingUpdate ? holdingShownMs + holdingUpdateMs : shownMs + loadMs;
				if (atMs >= dueMs) {
					return;
				}

				clearTimeout(timer);
				dueMs = atMs;
				timer = setTimeout(
					() => {
						dueMs = Infinity;
						shownMs = clock.monotonicMs();
						holdingShownMs = hasHoldingUpdate ? shownMs : holdingShownMs;
						hasHoldingUpdate = false;
						show(watch.known());
					},
					Math.max(0, atMs - clock.monotonicMs()),
				);
			});
			return () => {
				clearTimeout(timer);
				unsubscribe();
			};
		},
		ask: async (host) => namingReplaced(async () => askOnce(app, host)),
		run: async (host, words, options) => namingReplaced(async () => app.callOnHost({host, words, ...options})),
		async openMonitor(host) {
			const {exitCode} = await namingReplaced(async () =>
				app.runOnHost({host, words: ['top'], rest: undefined}, {connectMs: undefined, commandMs: undefined}),
			);
			if (exitCode !== 0) {
				app.remark(
					`\ncanhazgpu: the monitor on ${sanitize(host)} ended with exit code ${exitCode}. Press Enter to go back.`,
				);
				await untilEnter();
			}

			return exitCode;
		},
		stop() {
			watch.stop();
			feed.stop();
		},
	};
}
