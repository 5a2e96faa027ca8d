/** Implements `run --after` and `run --begin` without `--detach`: waits in the shell. */
import {setImmediate} from 'node:timers/promises';
import type {App} from '../../../app/contract.js';
import type {Job} from '../../../core/model/jobs.js';
import {awaitStart} from '../../../core/operations/jobs/await-start.js';
import {readCurrentJobs} from '../../../core/operations/jobs/jobs.js';
import {requirePossibleLater} from '../../../core/operations/require-possible.js';
import {soundJobs} from '../../../core/rules/jobs/look.js';
import {checkAfter} from '../../../core/rules/jobs/submit.js';
import type {AcquireRequest} from '../../../core/rules/request/request.js';
import {CanhazgpuError} from '../../../errors.js';
import {startText} from '../../../format/jobs.js';
import type {LocalLater} from '../later-flags.js';
import {detailsFor} from '../request-flags.js';
import {withWorld} from '../with-world.js';

/** Returns a job without a record, with only the fields that decide when the command starts. */
const waiting = ({after, begin}: LocalLater): Job => ({
	number: 0,
	token: '',
	state: 'pending',
	account: '',
	directory: '',
	words: [],
	command: [],
	count: 0,
	after,
	begin,
	retries: 0,
	starts: 0,
	submitTime: 0,
	log: '',
	isHeld: true,
});

/**
Waits for the jobs of --after and the time of --begin. Returns the exit code of a signal. Throws `unavailable` if the command never starts, and
`impossible` if its request can never be served.
*/
export async function awaitTurn(app: App, request: AcquireRequest, later: LocalLater): Promise<number | undefined> {
	return withWorld(app, {keepReconnecting: true, details: detailsFor(request.need)}, async (world) => {
		await requirePossibleLater(world, request);
		checkAfter(later.after, soundJobs(await readCurrentJobs(world)));
		const interruption = app.interruption();
		try {
			let said: string | undefined;
			const job = waiting(later);
			const start = await awaitStart(world, () => job, {
				signal: interruption.signal,
				onStart(each) {
					const words = startText(each, Date.now() / 1000);
					if (words === said) {
						return;
					}

					said = words;
					app.progress(`canhazgpu: ${words}`);
				},
			});
			if (start?.kind === 'never') {
				throw new CanhazgpuError('unavailable', `The command does not start: ${start.reason}`);
			}

			// A signal that has just arrived is handled in the next round of the event loop.
			await setImmediate();
			return start === undefined || interruption.signal.aborted ? interruption.exitCode() : undefined;
		} finally {
			interruption.end();
		}
	});
}
