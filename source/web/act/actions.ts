/** The pool operations of `canhazgpu web --mine`, limited to what the account of this server owns. */
import type {World} from '../../core/model/ports.js';
import type {QueueEntry, Requester, Snapshot} from '../../core/model/types.js';
import {leaveQueue} from '../../core/operations/waiting/leave-queue.js';
import {acquire} from '../../core/operations/waiting/acquire.js';
import type {EngineWorld, ExtendResult} from '../../core/operations/engine.js';
import {extend, release, reserve} from '../../core/operations/reservations.js';
import {undoableOf, undoMs, undoRelease, type Released} from '../../core/operations/undo.js';
import {readForDisplay} from '../../core/operations/transact.js';
import {worldVia} from '../../core/operations/world-via.js';
import type {Holding} from '../../core/rules/leases/holdings.js';
import {ownerOf, owns} from '../../core/rules/leases/ownership.js';
import {wishOf} from '../../core/rules/request/need-text.js';
import type {AcquireRequest, Grant} from '../../core/rules/request/request.js';
import {CanhazgpuError} from '../../errors.js';
import {gone, notOwner, requireOwnLease} from '../../format/owner.js';
import {refusalMessage} from '../../format/queue/refusal.js';
import {longDuration} from '../../format/text/durations.js';
import {gpuList} from '../../format/text/gpu-list.js';
import {placesText} from '../../format/instances.js';
import {undoneText, grantedText} from '../../format/queue/outcome.js';
import {progressText} from '../../format/queue/waiting-progress.js';
import {jobDeeds, type OwnJobs} from './own-jobs.js';
import {secondsOf, type ActName, type ActRequests} from './requests.js';

export type Done = {
	readonly words: string;
	readonly gpus: readonly number[];
	/** The id of the queue entry of a request that waits. */
	readonly entry_id?: string;
	/** Set if the release can be undone: the id for the undo request, and for how many seconds it is accepted. */
	readonly undo?: {readonly id: string; readonly seconds: number};
};

export type ActorOptions = {
	/** Returns the pool with a GPU scanner. Rejects while the pool cannot be opened. */
	readonly world: () => Promise<World>;
	readonly requester: () => Requester;
	readonly jobs: OwnJobs;
	readonly monotonicMs: () => number;
	readonly served: (request: AcquireRequest, grant: Grant) => void;
	/** Called with the reason why a request has left the queue without GPUs. */
	readonly left: (request: AcquireRequest, reason: CanhazgpuError) => void;
	/** Called with an error that is a bug. */
	readonly failed: (error: unknown) => void;
};

export type Actor = {
	readonly perform: <Name extends ActName>(name: Name, request: ActRequests[Name]) => Promise<Done>;
	readonly close: () => Promise<void>;
};

/** Extra time in ms for undo requests that arrive late. */
const undoSlackMs = 5000;

const mostWaits = 16;

const positionGone = (): CanhazgpuError => gone('That position in the queue');

function entryOf(snapshot: Snapshot, requester: Requester, id: string): QueueEntry {
	const record = snapshot.queue.find((each) => each.id === id);
	if (record?.kind !== 'entry') {
		throw positionGone();
	}

	if (!owns(requester, record.entry)) {
		throw notOwner('That position in the queue', ownerOf(record.entry));
	}

	return record.entry;
}

const indexesOf = (holdings: ReadonlyArray<Pick<Holding, 'index'>>): readonly number[] => [
	...new Set(holdings.map(({index}) => index)),
];

function extendedBy({extended, notTimed}: ExtendResult): ExtendResult['extended'] {
	if (notTimed.length > 0) {
		throw new CanhazgpuError(
			'failed',
			`${gpuList(notTimed)} ${notTimed.length === 1 ? 'is' : 'are'} held by a running job, which has no end time to extend`,
			{hint: 'Nothing was changed. The reservation ends with its job.'},
		);
	}

	if (extended.length === 0) {
		throw gone('That reservation');
	}

	return extended;
}

type ReserveRequest = AcquireRequest & {readonly tenure: {readonly type: 'manual'; readonly durationSeconds: number}};

const capitalized = (text: string): string => `${text[0]!.toUpperCase()}${text.slice(1)}`;

const granted = (grant: Grant, {need, tenure: {durationSeconds}}: ReserveRequest): Done => ({
	words: capitalized(grantedText(grant, {need, durationSeconds})),
	gpus: grant.gpus,
});

export function createActor({
	world: open,
	requester: whoAsks,
	jobs,
	monotonicMs,
	served,
	left,
	failed,
}: ActorOptions): Actor {
	const undoable = new Map<string, {readonly released: readonly Released[]; readonly untilMs: number}>();
	const ended = new AbortController();
	const waits = new Set<Promise<void>>();
	/** The entries that the page removes from the queue itself. */
	const leaving = new Set<string>();

	const requestOf = (
		requester: Requester,
		{gpus, count, duration, note, needs = '', share = '', force}: ActRequests['reserve'],
	): ReserveRequest => {
		if (gpus !== undefined && count !== undefined) {
			throw new CanhazgpuError('usage', 'Give a number of GPUs or GPU ids, not both');
		}

		const wantedCount = gpus?.length ?? count ?? 1;
		return {
			requester,
			count: wantedCount,
			ids: gpus,
			...wishOf({count: wantedCount, needs, share: share.trim()}),
			tenure: {type: 'manual', durationSeconds: secondsOf(duration)},
			note: note === undefined || note.trim() === '' ? undefined : note,
			force,
		};
	};

	/** Resolves when the GPUs are granted or the request has joined the queue. A queued request keeps waiting in the background. */
	async function join(world: World, request: ReserveRequest): Promise<Done> {
		if (waits.size >= mostWaits) {
			throw new CanhazgpuError('failed', `This server has ${mostWaits} positions in the queue already`, {
				hint: 'Cancel one of them first.',
			});
		}

		const answer = Promise.withResolvers<Done>();
		let isWaiting = false;
		const entryId = world.clock.uuid();
		const wait = async (): Promise<void> => {
			try {
				const got = await acquire(world, request, {
					waitSeconds: undefined,
					signal: ended.signal,
					leaveUntil: ended.signal,
					entryId,
					onProgress(progress) {
						isWaiting = true;
						answer.resolve({words: progressText(progress), gpus: [], entry_id: entryId});
					},
					failed(error) {
						if (!(error instanceof CanhazgpuError)) {
							failed(error);
						}
					},
				});
				if (got.kind === 'granted') {
					if (isWaiting) {
						served(request, got);
					}

					answer.resolve(granted(got, request));
				} else {
					const isRemoved = got.kind === 'gave-up' && got.reason === 'removed';
					const words = isRemoved ? 'It was removed from the queue' : 'The request has left the queue';
					const reason = new CanhazgpuError('unavailable', words);
					if (isWaiting && isRemoved && !leaving.has(entryId)) {
						left(request, reason);
					}

					answer.reject(reason);
				}
			} catch (error) {
				if (isWaiting && error instanceof CanhazgpuError) {
					left(request, error);
				} else if (isWaiting) {
					failed(error);
				}

				answer.reject(error);
			}
		};

		const waiting = wait();
		waits.add(waiting);
		void waiting.then(() => waits.delete(waiting));
		return answer.promise;
	}

	function offerUndo(world: EngineWorld, holdings: readonly Holding[]): Pick<Done, 'undo'> {
		const released = world.engine === undefined ? undoableOf(holdings) : [];
		for (const [id, {untilMs}] of undoable) {
			if (monotonicMs() > untilMs) {
				undoable.delete(id);
			}
		}

		if (released.length === 0) {
			return {};
		}

		const id = crypto.randomUUID();
		undoable.set(id, {released, untilMs: monotonicMs() + undoMs + undoSlackMs});
		return {undo: {id, seconds: undoMs / 1000}};
	}

	type Deed<Name extends ActName> = (world: World, requester: Requester, request: ActRequests[Name]) => Promise<Done>;

	const deeds: {readonly [Name in ActName]: Deed<Name>} = {
		async reserve(world, requester, request) {
			const wanted = requestOf(requester, request);
			const answer = await reserve(world, {...wanted, durationSeconds: wanted.tenure.durationSeconds});
			if (answer.kind === 'granted') {
				return granted(answer, wanted);
			}

			const {message, hint} = refusalMessage(answer, {account: requester.account, seesHolders: true});
			throw new CanhazgpuError('unavailable', message, {hint});
		},
		join: async (world, requester, request) => join(world, requestOf(requester, request)),
		async extend(world, requester, {lease_id: leaseId, gpus: ids, duration}) {
			const by = secondsOf(duration);
			requireOwnLease(await readForDisplay(world), requester, leaseId);
			const extended = extendedBy(await extend(world, requester, {by: 'lease', leaseId, ids}, {by}));
			return {words: `Extended ${placesText(extended)} by ${longDuration(by)}`, gpus: indexesOf(extended)};
		},
		async keep(world, requester, {lease_id: leaseId, gpus: ids, duration}) {
			const keepSeconds = secondsOf(duration);
			requireOwnLease(await readForDisplay(world), requester, leaseId);
			const kept = extendedBy(
				await extend(world, requester, {by: 'lease', leaseId, ids}, {atLeast: keepSeconds, keepSeconds}),
			);
			return {words: `Kept ${placesText(kept)} for ${longDuration(keepSeconds)} even if idle`, gpus: indexesOf(kept)};
		},
		async release(world, requester, {lease_id: leaseId, gpus: ids}) {
			requireOwnLease(await readForDisplay(world), requester, leaseId);
			const {released} = await release(world, requester, {by: 'lease', leaseId, ids});
			if (released.length === 0) {
				throw gone('That reservation');
			}

			return {
				words: `Released ${placesText(released)}`,
				gpus: indexesOf(released),
				...offerUndo(world, released),
			};
		},
		async undo(world, requester, {undo_id: undoId}) {
			const offer = undoable.get(undoId);
			undoable.delete(undoId);
			if (offer === undefined || monotonicMs() > offer.untilMs) {
				throw new CanhazgpuError('unavailable', 'That release can no longer be undone', {hint: 'Reserve again.'});
			}

			const {text, done, gpus} = undoneText(await undoRelease(world, requester, offer.released));
			if (done === 'none') {
				throw new CanhazgpuError('unavailable', text);
			}

			return {words: capitalized(text), gpus};
		},
		async leave(world, requester, {entry_id: entryId}) {
			const {id} = entryOf(await readForDisplay(world), requester, entryId);
			leaving.add(id);
			const answer = await leaveQueue(world, requester, id);
			if (answer.kind !== 'left') {
				throw positionGone();
			}

			const freed = answer.freed.length === 0 ? '' : ` and released ${gpuList(answer.freed)}`;
			return {words: `Left the queue${freed}`, gpus: answer.freed};
		},
		...jobDeeds(jobs),
	};

	return {
		async perform(name, request) {
			const world = worldVia(await open(), 'web');
			return deeds[name](world, whoAsks(), request);
		},
		async close() {
			ended.abort();
			await Promise.all(waits);
		},
	};
}
