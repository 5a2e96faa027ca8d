/** Slurm behind the verbs: it places, starts, supervises and ends, and nothing is kept here. */
import {CanhazgpuError, hasCode} from '../../errors.js';
import type {Clock} from '../../core/model/ports.js';
import {checkNote, type AcquireRequest, type Grant} from '../../core/rules/request/request.js';
import type {Engine, GaveUp, Progress, WaitOptions} from '../../core/operations/engine.js';
import {allocate} from './allocation.js';
import {cancelJob, extendJobs, leaveSlurmQueue, releaseJobs} from './changes.js';
import {clusterText, type Cluster} from './cluster.js';
import {grantOf, waitingJobs, type ClusterState} from './snapshot.js';
import {checkExpressible, lacksOf, noneNowError, refusalOf} from './refusals.js';
import {requestWords, reservationName, shardsFor, typeFor, typeOfProfile, typesOf, type Gres} from './request-words.js';
import {submission, submitDetached} from './submission.js';

/** From one reading of the queue to the next, while a request waits there. */
const progressMs = 2000;

/** How long a job that was granted may take to show its GPUs. */
const shownMs = 10_000;

/** Where the job stands in the queue. Undefined: it is not there any more. */
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

export function createSlurmEngine(cluster: Cluster, clock: Clock, shardMiB: number | undefined): Engine {
	/** What the request names; nodes are only asked for where it does. */
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

	/** Undefined while the controller is away: what was asked of it goes on. */
	const readState = async (): Promise<ClusterState | undefined> => {
		try {
			return await cluster.read();
		} catch (error) {
			if (hasCode(error, 'store-unreachable')) {
				return undefined;
			}

			throw error;
		}
	};

	const shown = async (jobId: number): Promise<Grant> => {
		const untilMs = clock.monotonicMs() + shownMs;
		for (;;) {
			const state = await readState();
			const grant = state && grantOf(state, jobId);
			if (grant !== undefined) {
				return grant;
			}

			if (clock.monotonicMs() > untilMs) {
				throw new CanhazgpuError('failed', `Slurm granted job ${jobId} and does not show which GPUs it has`, {
					hint: `See it: scontrol show job -d ${jobId}`,
				});
			}

			await clock.sleep(100);
		}
	};

	const acquire = async (
		request: AcquireRequest,
		{waitSeconds, signal, onProgress}: WaitOptions,
	): Promise<Grant | GaveUp> => {
		const gres = await check(request);
		const allocation = allocate(requestWords(request, {waitSeconds, gres, name: reservationName}));
		const over = new AbortController();
		const stop = (): void => {
			allocation.stop();
		};

		signal.addEventListener('abort', stop);
		const follow = async (): Promise<void> => {
			let last = '';
			for (;;) {
				await clock.sleep(last === '' ? 200 : progressMs, over.signal).catch(() => undefined);
				if (over.signal.aborted) {
					return;
				}

				const jobId = allocation.jobId();
				const state = jobId === undefined ? undefined : await readState();
				const progress = state && progressOf(state, jobId!, request);
				const words = JSON.stringify({...progress, estimateSeconds: undefined});
				if (progress === undefined || words === last) {
					continue;
				}

				last = words;
				onProgress(progress);
			}
		};

		// Without words on how it goes the waiting goes on.
		const following = follow().catch(() => undefined);
		try {
			const jobId = await allocation.ended;
			if (jobId === undefined || signal.aborted) {
				const asked = jobId ?? allocation.jobId();
				if (asked !== undefined) {
					await cancelJob(cluster, asked);
				}

				return {kind: 'gave-up', reason: 'aborted'};
			}

			return await shown(jobId);
		} catch (error) {
			if (hasCode(error, 'not-found')) {
				return {kind: 'gave-up', reason: 'removed'};
			}

			if (hasCode(error, 'unavailable') && (waitSeconds ?? 0) > 0) {
				return {kind: 'gave-up', reason: 'timeout'};
			}

			throw error;
		} finally {
			signal.removeEventListener('abort', stop);
			over.abort();
			await following;
		}
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
		lacks: lacksOf(shardMiB !== undefined),
		refusalOf,
	};
}
