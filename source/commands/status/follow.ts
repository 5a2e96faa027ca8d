/** `status --json --follow`: prints a line of JSON after each change until this process ends. */
import process from 'node:process';
import packageJson from '../../../package.json' with {type: 'json'};
import {startLiveView, type LiveState, type LiveView} from '../../core/live/live-view.js';
import {timestamp} from '../../format/text/durations.js';
import {harmlessJsonLine} from '../../format/text/json.js';
import {sanitize} from '../../format/text/text.js';
import {isReaderGone, lostOutput} from '../../errors.js';
import {statusJson} from '../../format/json/status-json.js';
import type {App} from '../../app/contract.js';
import {keepReminding} from '../shared/reminding.js';
import {keepHeapSmall} from '../shared/small-heap.js';

/** The scan interval in ms. A line is printed after each scan, and writing it shows whether the reader has gone. */
const scanMs = 5000;
const togetherMs = 200;

function lineOf(app: App, state: LiveState): Record<string, unknown> | undefined {
	const {snapshot, lastScan, observation = lastScan, lost, rows, queue, now} = state;
	const about = {
		host: app.host.hostname,
		account: app.requester(undefined).account,
		version: packageJson.version,
		time: timestamp(now),
	};
	if (lost !== undefined) {
		return {...about, error: sanitize(lost.reason)};
	}

	return snapshot === undefined || observation === undefined
		? undefined
		: {...about, gpus: statusJson(rows, observation), waiting_count: queue.length};
}

/**
Prints the status until a signal arrives or the reader has gone. Returns the exit code of the signal, or 0 if the reader has gone. Throws if the output
is lost, or if the pool has moved or needs a correction.
*/
export async function followStatus(app: App): Promise<number> {
	const world = await app.open({keepReconnecting: true});
	keepHeapSmall();
	const interruption = app.interruption();
	const ended = Promise.withResolvers<number>();
	interruption.signal.addEventListener('abort', () => {
		ended.resolve(interruption.exitCode());
	});
	// Ends the command when the reader of stdout has gone, or when output is lost.
	const unwritten = (error: Error): void => {
		if (isReaderGone(error)) {
			ended.resolve(0);
		} else {
			ended.reject(lostOutput(error));
		}
	};

	process.stdout.on('error', unwritten);
	let timer: NodeJS.Timeout | undefined;
	let view: LiveView | undefined;
	let stopReminding: (() => Promise<void>) | undefined;
	try {
		const started = startLiveView(world, {
			watched: {gpus: await world.watchGpus(scanMs), clock: world.clock},
			intervals: {watchedMs: scanMs, unwatchedMs: scanMs},
			mostEvents: 1,
			recordsAlerts: true,
			endsOnLastingError: true,
			broken: ended.reject,
		});
		view = started;
		stopReminding = keepReminding(app, world, app.remark);
		started.subscribe((_state, change) => {
			if (change === 'events') {
				return;
			}

			timer ??= setTimeout(() => {
				timer = undefined;
				const line = lineOf(app, started.current());
				if (line !== undefined) {
					app.print(harmlessJsonLine(line));
				}
			}, togetherMs);
		});
		return await ended.promise;
	} finally {
		clearTimeout(timer);
		process.stdout.off('error', unwritten);
		view?.stop();
		interruption.end();
		await stopReminding?.();
		await world.close();
	}
}
