import * as v from 'valibot';
import {acquire} from '../../core/operations/waiting/acquire.js';
import {release} from '../../core/operations/reservations.js';
import type {GaveUp} from '../../core/operations/engine.js';
import type {AcquireRequest} from '../../core/rules/request/request.js';
import {CanhazgpuError, hasCode, messageOf} from '../../errors.js';
import {useLines} from '../../format/engine/engine-text.js';
import {grantJson} from '../../format/json/change-json.js';
import {grantedText} from '../../format/queue/outcome.js';
import {refusalMessage} from '../../format/queue/refusal.js';
import {text, whole, yesNo} from '../input.js';
import {defineTool, type Call} from '../tool.js';
import {durationOf} from './duration.js';
import {wantedFields, wantedOf} from './request.js';

/** A week, because a client that asks for a longer wait is probably mistaken. */
const longestWaitSeconds = 7 * 86_400;

function tenureOf({world}: Call, durationSeconds: number, isDetached: boolean): AcquireRequest['tenure'] {
	if (isDetached) {
		return {type: 'manual', durationSeconds};
	}

	if (world.engine !== undefined) {
		throw new CanhazgpuError('usage', 'With Slurm, a reservation cannot end when this connection ends', {
			hint: 'Set detached to true, and release the reservation when you are done.',
		});
	}

	// Leaves out the process group: the client's other processes can be in the same group, but do not keep the GPUs.
	const {group, ...holder} = world.host.self;
	return {type: 'run', timeLimitSeconds: durationSeconds, holder};
}

const noGrant = ({reason, isUnsure}: GaveUp): CanhazgpuError =>
	new CanhazgpuError(
		'unavailable',
		reason === 'timeout'
			? 'The GPUs did not become free in time'
			: reason === 'removed'
				? 'Somebody removed this request from the queue'
				: 'The wait was cancelled',
		{
			hint:
				isUnsure === true
					? 'The store cannot be reached. Once it is back, this request leaves the queue and releases the GPUs that it got. Then call gpu_reserve again.'
					: 'Nothing is held. To wait again, call gpu_reserve again, perhaps with more wait_seconds.',
		},
	);

/** Replaces Slurm's advice if the GPUs are not free, because that advice is for the command line. */
async function unlessSlurmRefuses<Result>({engine}: Call['world'], answer: Promise<Result>): Promise<Result> {
	try {
		return await answer;
	} catch (error) {
		if (engine === undefined || !hasCode(error, 'unavailable')) {
			throw error;
		}

		throw new CanhazgpuError('unavailable', messageOf(error), {
			hint: 'To wait in the queue, set wait_seconds. Who has the GPUs: gpu_status. Who waits: gpu_queue.',
			cause: error,
		});
	}
}

export const reserve = defineTool({
	name: 'gpu_reserve',
	title: 'Reserve GPUs',
	description:
		'Reserves GPUs for you alone. Reserve before you use a GPU, set CUDA_VISIBLE_DEVICES to the ids that you get, and release them as soon as you are done. The reservation ends with its duration, or when this connection ends. If no GPU is free, wait_seconds waits in the queue.',
	input: v.strictObject({
		...wantedFields,
		duration: v.optional(
			text(
				'how long to reserve the GPUs, such as 30m, 2h or 1d. The default is 30m, or less if the policy allows less.',
			),
		),
		note: v.optional(text('a note on what the GPUs are for, which everyone can see')),
		wait_seconds: v.optional(
			whole(0, longestWaitSeconds, 'how long to wait in the queue if the GPUs are not free. The default is 0.'),
			0,
		),
		detached: v.optional(
			yesNo('whether the reservation stays when this connection ends. The default is false.'),
			false,
		),
	}),
	output: 'reserve',
	isReadOnly: false,
	async call(call, {duration, note, wait_seconds: waitSeconds, detached, ...wanted}) {
		const {world, requester, via, held, signal, connectionEnd, progress, failed} = call;
		const durationSeconds = await durationOf(call, duration);
		const request: AcquireRequest = {
			requester,
			...wantedOf(wanted),
			tenure: tenureOf(call, durationSeconds, detached),
			note: note === undefined || note.trim() === '' ? undefined : note,
			via,
		};
		const answer = await unlessSlurmRefuses(
			world,
			acquire(world, request, {waitSeconds, signal, leaveUntil: connectionEnd, onProgress: progress, failed}),
		);
		if (answer.kind === 'gave-up') {
			throw noGrant(answer);
		}

		if (answer.kind === 'refused') {
			const {message, hint = ''} = refusalMessage(answer, {canForce: false, seesHolders: true});
			throw new CanhazgpuError('unavailable', message, {
				hint: `${hint} To wait in the queue, set wait_seconds.`.trim(),
			});
		}

		if (!detached) {
			await held.keep(world, answer.leaseId, connectionEnd);
		}

		if (signal.aborted) {
			// The client no longer waits for the answer, so it would not know about the reservation.
			await held.giveUp(answer.leaseId, async () => release(world, requester, {by: 'lease', leaseId: answer.leaseId}));
			throw noGrant({kind: 'gave-up', reason: 'aborted'});
		}

		const got = grantedText(answer, {need: request.need, durationSeconds});
		const until = detached
			? 'It stays when this connection ends'
			: 'It ends earlier if this connection ends or gpu_release releases it';
		return {
			json: grantJson(answer, request),
			words: `You have ${got} (lease_id ${answer.leaseId}). ${until}. ${useLines(answer, world.host.hostname).join(' ')}`,
		};
	},
});
