/** Carries out what a dialog asks for, by the verbs of the core, and words the answer. */
import {CanhazgpuError} from '../errors.js';
import type {World} from '../core/ports.js';
import {extend, release, reserve} from '../core/reservations.js';
import {ownerOf} from '../core/ownership.js';
import type {NotYours} from '../core/selection.js';
import type {Requester} from '../core/types.js';
import {longDuration} from '../format/durations.js';
import {refusalMessage} from '../format/refusal.js';
import {sanitize} from '../format/text.js';
import type {Complaint, Target} from './dialogs.js';
import type {Flash} from './state.js';
import type {Submission} from './submission.js';

export type Outcome = {readonly flash: Flash} | {readonly complaint: Complaint};

const gpuList = (gpus: readonly number[]): string => `${gpus.length === 1 ? 'GPU' : 'GPUs'} ${gpus.join(',')}`;

const succeeded = (text: string, command?: string): Outcome => ({flash: {level: 'ok', text, command}});

const failed = (text: string): Outcome => ({flash: {level: 'error', text}});

/** The lease that was shown is no longer there, or no longer the asker's. Nothing was done. */
function missed({gpu}: Target, verb: 'released' | 'extended', notYours: readonly NotYours[]): Outcome {
	const holder = notYours.find(({index}) => index === gpu);
	return failed(
		holder === undefined
			? `Nothing ${verb}: that reservation of GPU ${gpu} has ended meanwhile`
			: `Nothing ${verb}: GPU ${gpu} is held by ${sanitize(ownerOf(holder.lease))}`,
	);
}

async function carryOut(world: World, requester: Requester, submission: Submission): Promise<Outcome> {
	switch (submission.verb) {
		case 'reserve': {
			const answer = await reserve(world, {requester, ...submission});
			return answer.kind === 'refused'
				? {complaint: refusalMessage(answer)}
				: succeeded(
						`reserved ${gpuList(answer.gpus)} for ${longDuration(submission.durationSeconds)}`,
						`export CUDA_VISIBLE_DEVICES=${answer.gpus.join(',')}`,
					);
		}

		case 'extend': {
			const {target, bySeconds} = submission;
			const {extended, notYours, notTimed} = await extend(world, requester, target.selection, {by: bySeconds});
			if (notTimed.length > 0) {
				return failed(`Nothing extended: GPU ${target.gpu} is held by a run, which ends with its job`);
			}

			return extended.length === 0
				? missed(target, 'extended', notYours)
				: succeeded(`extended GPU ${target.gpu} by ${longDuration(bySeconds)}`);
		}

		case 'release': {
			const {target} = submission;
			const {released, notYours} = await release(world, requester, target.selection);
			return released.length === 0
				? missed(target, 'released', notYours)
				: succeeded(`released GPU ${target.gpu}`, `canhazgpu release --gpu-ids ${target.gpu}`);
		}
	}
}

/**
Failures that a user can meet become words; any other error is a bug and is thrown.
*/
export async function perform(world: World, requester: Requester, submission: Submission): Promise<Outcome> {
	try {
		return await carryOut(world, requester, submission);
	} catch (error) {
		if (error instanceof CanhazgpuError) {
			return {complaint: {message: sanitize(error.message), hint: sanitize(error.hint ?? '')}};
		}

		throw error;
	}
}
