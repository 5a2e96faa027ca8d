/** Implements the engine with Slurm, which places, starts, supervises and ends jobs. Nothing is stored here. */
import {CanhazgpuError, hasCode} from '../../errors.js';
import type {Clock} from '../../core/model/ports.js';
import {checkNote, type AcquireRequest, type Grant} from '../../core/rules/request/request.js';
import type {Engine, GaveUp, Progress, WaitOptions} from '../../core/operations/engine.js';
import {allocate} from './allocation.js';
import type {SlurmJob} from './answers/jobs.js';
import {createBatchJobs} from './batch-jobs.js';
import {cancelJob, extendJobs, leaveSlurmQueue, releaseJobs} from './changes.js';
import {clusterText, type Cluster} from './cluster.js';
import {grantOf, waitingJobs, type ClusterState} from './snapshot.js';
import {checkExpressible, lacksOf, noneNowError, refusalOf} from './refusals.js';
import {requestWords, reservationName, shardsFor, typeFor, typeOfProfile, typesOf, type Gres} from './request-words.js';
import {submission, submitDetached} from './submission.js';

const progressMs = 2000;

/** How long to ask an unreachable controller to cancel a job. */
const longestCancelMs = 30_000;

const shownMs = 10_000;

/** Returns the job's progress in the queue, or undefined if the job is no longer in the queue. */
function progressOf(state: ClusterState, jobId: number, request: AcquireRequest): Progress | undefined {
	const waiting = waitingJobs(state);
	const index = waiting.findIndex(({id}) => id === jobId);
	const job = waiting[index];
	return job === undefined
		? undefined
		: {
				kind: 'waiting',
				position: index + 1,
				waiting: waiting.length,
				wanted: request,
				held: [],
				outOfService: [],
				unusable: [],
				unknown: [],
				estimateSeconds: job.startTime === undefined ? undefined : Math.max(0, job.startTime - state.now),
				reason: job.reason,
			};
}

/** How long in ms to wait for a controller that does not answer right after a grant. */
const longestOutageMs = 60_000;

/** Finds the job of a request. Returns `other` if the controller has lost the job and given its number to another job. */
type FindOwn = (state: ClusterState, jobId: number) => SlurmJob | 'other' | undefined;

/** Finds the job of one request by its number and its time of submission, which distinguishes later jobs with the same number. */
function createFindOwn(): FindOwn {
	let submitTime: number | undefined;
	return ({jobs}, jobId) => {
		const job = jobs.find(({id}) => id === jobId);
		if (
			job !== undefined &&
			(submitTime === undefined ? job.name !== reservationName : job.submitTime !== submitTime)
		) {
			return 'other';
		}

		submitTime ??= job?.submitTime;
		return job;
	};
}

export function createSlurmEngine(cluster: Cluster, clock: Clock, shardMiB: number | undefined): Engine {
	const gresOf = async ({need, count}: AcquireRequest): Promise<Gres> => {
		const [model] = need?.models ?? [];
		const profile = need?.mig !== undefined && 'profile' in need.mig ? need.mig.profile : undefined;
		const shareMiB = need?.shareMiB;
		if (model === undefined && profile === undefined && shareMiB === undefined) {
			return {name: 'gpu', count};
		}

		const {nodes} = await cluster.read();
		if (shareMiB !== undefined) {
			return {name: 'shard', count: shardsFor(shareMiB, shardMiB!, nodes)};
		}

		const types = typesOf(nodes);
		const type = profile === undefined ? typeFor(model!, types) : typeOfProfile(profile.toLowerCase(), types);
		return {name: 'gpu', type, count};
	};

	const check = async (request: AcquireRequest): Promise<Gres> => {
		checkNote(request.note);
		checkExpressible(request, shardMiB !== undefined);
		return gresOf(request);
	};

	/** Reads the state. Returns undefined while the controller does not answer, so that the request continues. */
	const readState = async (lost: (reason: string) => void = () => undefined): Promise<ClusterState | undefined> => {
		try {
			return await cluster.read();
		} catch (error) {
			if (error instanceof CanhazgpuError && error.code === 'store-unreachable') {
				lost(error.message);
				return undefined;
			}

			throw error;
		}
	};

	/** Cancels a job that nobody waits for any longer, and that would otherwise get GPUs later. */
	const takeOut = async (jobId: number, findOwn: FindOwn): Promise<void> => {
		const untilMs = clock.monotonicMs() + longestCancelMs;
		for (;;) {
			const state = await readState().catch(() => undefined);
			try {
				if (state === undefined || findOwn(state, jobId) !== 'other') {
					await cancelJob(cluster, jobId);
				}

				return;
			} catch (error) {
				if (!hasCode(error, 'store-unreachable')) {
					throw error;
				}

				if (clock.monotonicMs() > untilMs) {
					throw new CanhazgpuError(
						'store-unreachable',
						`Slurm's controller does not answer, so job ${jobId} is still in its queue`,
						{
							hint: `The job may still get GPUs, which nobody would use. When the controller answers again: scancel ${jobId}`,
							cause: error,
						},
					);
				}
			}

			await clock.sleep(progressMs);
		}
	};

	/** Waits for a job whose salloc gave up. Returns undefined after cancellation or the time limit. */
	const waitFor = async (
		jobId: number,
		findOwn: FindOwn,
		untilMs: number,
		signal: AbortSignal,
	): Promise<Grant | GaveUp | 'lost' | undefined> => {
		while (!signal.aborted && clock.monotonicMs() < untilMs) {
			const state = await readState();
			const own = state && findOwn(state, jobId);
			if (own === 'other') {
				return 'lost';
			}

			const grant = own && grantOf(state, jobId);
			if (grant !== undefined) {
				return grant;
			}

			if (state !== undefined && own?.state !== 'pending' && own?.state !== 'holding') {
				return own === undefined ? 'lost' : {kind: 'gave-up', reason: 'removed'};
			}

			await clock.sleep(progressMs, signal).catch(() => undefined);
		}

		return undefined;
	};

	/** Reads which GPUs a granted job has. If Slurm does not show them, or the signal is aborted, cancels the job, because nobody would use its GPUs. */
	const shown = async (jobId: number, findOwn: FindOwn, signal: AbortSignal): Promise<Grant | GaveUp> => {
		const lastMs = clock.monotonicMs() + longestOutageMs;
		let untilMs = clock.monotonicMs() + shownMs;
		for (;;) {
			const state = await readState();
			if (signal.aborted) {
				await takeOut(jobId, findOwn);
				return {kind: 'gave-up', reason: 'aborted'};
			}

			const grant = state && grantOf(state, jobId);
			if (grant !== undefined) {
				return grant;
			}

			const nowMs = clock.monotonicMs();
			// A controller that does not answer gets more time.
			untilMs = state === undefined ? Math.min(lastMs, nowMs + shownMs) : untilMs;
			if (nowMs > untilMs) {
				await takeOut(jobId, findOwn);
				throw new CanhazgpuError(
					'failed',
					`Slurm granted job ${jobId}, but does not show which GPUs it had, so the job was cancelled`,
					{hint: "The GPUs of its nodes need numbers: see File= in Slurm's gres.conf."},
				);
			}

			await clock.sleep(100, signal).catch(() => undefined);
		}
	};

	/** Tries once to get the GPUs. Returns `lost` if the controller was killed before it had stored the job. */
	const attempt = async (
		request: AcquireRequest,
		gres: Gres,
		{waitSeconds, signal, onProgress}: WaitOptions,
	): Promise<Grant | GaveUp | 'lost'> => {
		const untilMs = clock.monotonicMs() + (waitSeconds ?? Infinity) * 1000;
		const allocation = allocate(requestWords(request, {waitSeconds, gres, name: reservationName}));
		const findOwn = createFindOwn();
		const over = new AbortController();
		const stop = (): void => {
			allocation.stop('SIGTERM');
		};

		signal.addEventListener('abort', stop);
		const follow = async (): Promise<void> => {
			let last = '';
			let missing = 0;
			const say = (progress: Progress): void => {
				const words = JSON.stringify({...progress, estimateSeconds: undefined});
				if (words === last || over.signal.aborted) {
					return;
				}

				last = words;
				onProgress(progress);
			};

			for (;;) {
				await clock.sleep(last === '' ? 200 : progressMs, over.signal).catch(() => undefined);
				if (over.signal.aborted) {
					return;
				}

				const jobId = allocation.jobId();
				if (jobId === undefined) {
					continue;
				}

				const state = await readState((reason) => {
					say({kind: 'store-lost', reason});
				});
				const own = state && findOwn(state, jobId);
				// The first read may have begun before the job existed, so only a second read without the job matters.
				missing = state !== undefined && own === undefined ? missing + 1 : 0;
				if ((own === 'other' || missing > 1) && !over.signal.aborted) {
					// On SIGTERM, salloc would cancel the job with this number, which is another job now.
					allocation.stop(own === 'other' ? 'SIGKILL' : 'SIGTERM');
					return;
				}

				const progress = state && progressOf(state, jobId, request);
				if (progress !== undefined) {
					say(progress);
				}
			}
		};

		// If this fails, the wait continues without progress reports.
		const following = follow().catch(() => undefined);
		try {
			const jobId = await allocation.ended;
			if (signal.aborted) {
				const asked = jobId ?? allocation.jobId();
				if (asked !== undefined) {
					await takeOut(asked, findOwn);
				}

				return {kind: 'gave-up', reason: 'aborted'};
			}

			return jobId === undefined ? 'lost' : await shown(jobId, findOwn, signal);
		} catch (error) {
			if (hasCode(error, 'not-found')) {
				return {kind: 'gave-up', reason: 'removed'};
			}

			if (hasCode(error, 'unavailable') && (waitSeconds ?? 0) > 0) {
				return {kind: 'gave-up', reason: 'timeout'};
			}

			const asked = allocation.jobId();
			if (!hasCode(error, 'store-unreachable') || asked === undefined || signal.aborted) {
				throw error;
			}

			const answer = await waitFor(asked, findOwn, untilMs, signal);
			if (answer === undefined) {
				await takeOut(asked, findOwn);
			}

			return answer ?? {kind: 'gave-up', reason: signal.aborted ? 'aborted' : 'timeout'};
		} finally {
			signal.removeEventListener('abort', stop);
			over.abort();
			await following;
		}
	};

	const acquire = async (request: AcquireRequest, options: WaitOptions): Promise<Grant | GaveUp> => {
		const gres = await check(request);
		const {waitSeconds} = options;
		const beganMs = clock.monotonicMs();
		while (!options.signal.aborted) {
			const passedSeconds = (clock.monotonicMs() - beganMs) / 1000;
			const leftSeconds = waitSeconds === undefined ? undefined : Math.max(0, waitSeconds - passedSeconds);
			const answer = await attempt(request, gres, {...options, waitSeconds: leftSeconds});
			if (answer !== 'lost') {
				return answer;
			}

			options.onProgress({kind: 'rejoined', isLast: true});
		}

		return {kind: 'gave-up', reason: 'aborted'};
	};

	return {
		name: 'slurm',
		async label() {
			try {
				return clusterText(await cluster.config());
			} catch {
				return clusterText(undefined);
			}
		},
		acquire,
		async acquireNow(request) {
			const answer = await acquire(request, {
				waitSeconds: 0,
				signal: new AbortController().signal,
				onProgress: () => undefined,
			});
			if (answer.kind === 'gave-up') {
				throw noneNowError();
			}

			return answer;
		},
		release: async (requester, selection) => releaseJobs(cluster, requester, selection),
		extend: async (requester, selection, end) => extendJobs(cluster, requester, selection, end),
		leaveQueue: async (requester, id) => leaveSlurmQueue(cluster, requester, id),
		async submit(asked) {
			return submission(cluster, clock, asked, await check(asked.request));
		},
		async submitDetached(asked, directory) {
			return submitDetached(asked, directory, await check(asked.request));
		},
		jobs: createBatchJobs(cluster),
		lacks: lacksOf(shardMiB !== undefined),
		refusalOf,
	};
}
