/** Formats a refusal. The first line is the same as in the Go program, because scripts search for it. */
import type {Block, Refusal, UnusableGpu} from '../../core/rules/grants/newcomer-grant.js';
import type {UsageBlock} from '../../core/rules/usage/usage-block.js';
import {isPartOfGpu} from '../../core/rules/request/request.js';
import {sizeText} from '../../core/rules/request/memory-size.js';
import type {Quality} from '../../core/rules/allocation/need.js';
import {latestEndOf} from '../../core/rules/leases/liveness.js';
import type {Lease} from '../../core/model/types.js';
import {holderText} from '../owner.js';
import {longDuration, shortDuration} from '../text/durations.js';
import {counted, firstOf, mebibytes} from '../text/numbers.js';
import {sanitize} from '../text/text.js';
import {agentLimitText, limitSettingText, overLimitText} from './over-limit.js';

type RefusalMessage = {readonly message: string; readonly hint?: string};

const countOf = ({blocked}: Refusal, ...kinds: ReadonlyArray<Block['kind']>): number =>
	blocked.filter(({block}) => kinds.includes(block.kind)).length;

/** How many GPUs a message names. Any others are only counted. */
const namedGpus = 4;

/** Returns why a GPU without a holder cannot be granted, to follow its number: `may be in use: ...`. */
function useText(block: UsageBlock): string {
	switch (block.kind) {
		case 'unreserved': {
			if (block.isDirty === true) {
				return `is not clean yet: ${
					block.users.length > 0
						? `processes of ${sanitize(block.users.join(', '))} are on it`
						: `${mebibytes(block.memoryUsedMiB ?? 0)} are in use, but not by a process of a known account`
				}`;
			}

			return `is used without a reservation by ${block.users.length > 0 ? sanitize(block.users.join(', ')) : 'an unknown user'}`;
		}

		case 'unknown-use':
		case 'failed':
		case 'not-scanned': {
			return `may be in use: ${sanitize(block.why)}`;
		}

		case 'unfit': {
			return `is unhealthy: ${sanitize(block.problems.map(({words}) => words).join('; '))}`;
		}
	}
}

const unknownQualityText = (quality: Quality): string =>
	`has ${quality === 'compute capability' ? 'an ' : ''}unknown ${quality}`;

export const unknownText = (gpus: ReadonlyArray<{readonly index: number; readonly quality: Quality}>): string =>
	listed(gpus, ({quality}) => unknownQualityText(quality));

const partText = (shares: readonly Lease[]): string =>
	shares.map((lease) => `${sizeText(lease.memoryMiB ?? 0)} are ${holderText(lease)}'s`).join(', ');

const sharerText = (shares: readonly Lease[]): string =>
	new Intl.ListFormat('en-GB').format([...new Set(shares.map((lease) => holderText(lease)))]);

function heldText(lease: Lease, now: number): string {
	const owner = holderText(lease);
	if (lease.partialQueueId !== undefined) {
		return `is held for ${owner}, who waits in the queue`;
	}

	const end = latestEndOf(lease);
	return `is held by ${owner}${end === undefined ? '' : ` for another ${longDuration(end - now)}`}`;
}

export function blockText(block: Block, now: number): string {
	switch (block.kind) {
		case 'leased': {
			return heldText(block.lease, now);
		}

		case 'split': {
			return block.isUnknown ? 'may be split by MIG (unknown)' : 'is split by MIG, so it cannot be reserved whole';
		}

		case 'shared': {
			return `is shared by ${sharerText(block.shares)}`;
		}

		case 'no-room': {
			const {freeMiB, capacityMiB, shares} = block;
			const parts = shares.length === 0 ? '' : `, ${partText(shares)}`;
			return `has ${sizeText(freeMiB)} of ${sizeText(capacityMiB)} left${parts}`;
		}

		case 'most-shares': {
			return `is shared by ${counted(block.shares.length, 'reservation')}, which is the maximum`;
		}

		case 'unknown-memory': {
			return 'has unknown memory in use';
		}

		case 'garbage': {
			return `has an unreadable record: ${sanitize(block.problem)}`;
		}

		case 'drained': {
			const {reason} = block.drain;
			return `is out of service${reason === undefined ? '' : `: ${sanitize(reason)}`}`;
		}

		case 'queued': {
			return `is kept for ${holderText(block.entry)}, who waits in the queue`;
		}

		case 'unknown-quality': {
			return unknownQualityText(block.quality);
		}

		case 'unreserved':
		case 'unknown-use':
		case 'failed':
		case 'not-scanned':
		case 'unfit': {
			return useText(block);
		}
	}
}

const blockedName = ({index, instance}: {readonly index: number; readonly instance?: string}): string =>
	instance === undefined ? `GPU ${index}` : `MIG instance ${instance}`;

function listed<Gpu extends {readonly index: number; readonly instance?: string}>(
	gpus: readonly Gpu[],
	wordsOf: (gpu: Gpu) => string,
): string {
	return firstOf(
		gpus.map((gpu) => `${blockedName(gpu)} ${wordsOf(gpu)}`),
		namedGpus,
	);
}

/** Returns `GPU 1 may be in use: ..., GPU 3 is unhealthy: ...`. After a failed scan, gives the reason only once. */
export function unusableText(unusable: readonly UnusableGpu[]): string {
	const unscanned = unusable.find(({block}) => block.kind === 'not-scanned')?.block;
	return unscanned?.kind === 'not-scanned'
		? `the GPUs cannot be read: ${sanitize(unscanned.why).replace(/\.$/v, '')}`
		: listed(unusable, ({block}) => useText(block));
}

/** Facts about the requester that decide which advice helps. */
type Asker = {
	readonly canForce?: boolean;
	readonly account?: string;
	/** Whether the requester already sees every GPU and its holder, as in the monitor. */
	readonly seesHolders?: boolean;
};

/** Returns `Next free in about 1h59m: GPU 5, held by bob.` Empty if no GPU is held. */
function nextFreeText({blocked, now}: Refusal): string {
	const leases = blocked.flatMap(({index, block}) => (block.kind === 'leased' ? [{index, lease: block.lease}] : []));
	const ends = leases
		.map(({index, lease}) => ({index, lease, end: latestEndOf(lease)}))
		.filter(({end}) => end !== undefined)
		.toSorted((a, b) => a.end! - b.end!);
	const [next] = ends;
	if (next === undefined) {
		return leases.length === 0 ? '' : 'The next GPU is free when a job ends.';
	}

	const wait = shortDuration(Math.max(0, next.end! - now));
	return `Next free in about ${wait}: GPU ${next.index}, held by ${holderText(next.lease)}.`;
}

function hintOf(refusal: Refusal, {canForce = true, account, seesHolders = false}: Asker): string {
	const unscanned = refusal.blocked.find(({block}) => block.kind === 'not-scanned')?.block;
	if (unscanned?.kind === 'not-scanned') {
		return `The GPUs cannot be read, so none is granted: ${sanitize(unscanned.why)}${canForce ? ' --force reserves them anyway.' : ''}`;
	}

	const ignored = [
		...(countOf(refusal, 'unreserved', 'unknown-use') > 0 ? ['use without a reservation'] : []),
		...(countOf(refusal, 'failed', 'unfit') > 0 ? ['problems of a GPU'] : []),
	].join(' and ');
	const force = canForce && ignored !== '' ? ` --force ignores ${ignored}.` : '';
	const isOwnUse = refusal.blocked.some(
		({block}) => block.kind === 'unreserved' && account !== undefined && block.users.includes(account),
	);
	const own = isOwnUse ? ' To reserve a GPU that you are using already: canhazgpu reserve --pid PID.' : '';
	return refusal.wanted.ids === undefined && !isPartOfGpu(refusal.wanted.need)
		? `${seesHolders ? nextFreeText(refusal) : 'See who holds them, and until when: canhazgpu status.'}${force}${own}`.trim()
		: `${listed(refusal.blocked, ({block}) => blockText(block, refusal.now))}.${force}${own}`;
}

const inUse = 'in use without reservation';

const nounOf = ({need}: Refusal['wanted']): string => (need?.mig === undefined ? 'GPU' : 'MIG instance');

export function refusalMessage(refusal: Refusal, asker: Asker = {}): RefusalMessage {
	const {wanted, available, overLimit, agentLimit} = refusal;
	if (overLimit !== undefined) {
		return {
			message: `Not enough ${nounOf(wanted)}s available. Requested: ${wanted.count} (${overLimitText(overLimit)})`,
			hint: `${limitSettingText(overLimit)} ${
				asker.seesHolders === true
					? 'A waiting request is served once the account holds fewer GPUs.'
					: 'Without --nonblock, the request waits until the account holds fewer GPUs.'
			}`,
		};
	}

	if (agentLimit !== undefined) {
		return {
			message: `Not enough ${nounOf(wanted)}s available. Requested: ${wanted.count} (${agentLimitText(agentLimit)})`,
			hint: `The limit is agents.max-gpus=${agentLimit.most}. A request that waits is served once agents hold fewer.`,
		};
	}

	const details = asker.seesHolders === true ? '' : " - run 'canhazgpu status' for details";
	const isNamed = wanted.ids !== undefined && wanted.ids.length > 0;
	const reasons = [
		// Counts reserved GPUs only for a request with GPU ids. Otherwise it is obvious that GPUs are missing because others hold them.
		[isNamed ? countOf(refusal, 'leased') : 0, 'already reserved'],
		[countOf(refusal, 'unreserved'), inUse],
		[countOf(refusal, 'queued'), 'kept for the queue'],
		[countOf(refusal, 'drained'), 'out of service'],
		[countOf(refusal, 'failed', 'garbage', 'unfit'), 'with problems'],
		[countOf(refusal, 'unknown-use', 'not-scanned', 'unknown-memory'), 'that may be in use'],
		[countOf(refusal, 'no-room'), 'without enough free memory'],
		[countOf(refusal, 'most-shares'), 'with as many shares as allowed'],
		[countOf(refusal, 'shared'), 'shared by others'],
		[countOf(refusal, 'split'), 'split by MIG'],
		[countOf(refusal, 'unknown-quality'), 'that may not qualify'],
	] as const;
	const noun = nounOf(wanted);
	// The Go program prints `1 GPUs` here, and scripts search for it.
	const counts = reasons
		.filter(([count]) => count > 0)
		.map(([count, what]) => `${what === inUse ? `${count} ${noun}s` : counted(count, noun)} ${what}`);
	const why = counts.length === 0 ? '' : ` (${counts.join(', ')}${details})`;
	return {
		message: `Not enough ${noun}s available. Requested: ${wanted.count}, Available: ${available}${why}`,
		hint: hintOf(refusal, asker),
	};
}
