/** Carries out what a dialog asks for, by the verbs of the core, and words the answer. */
import {CanhazgpuError} from '../errors.js';
import {adopt} from '../core/adopt.js';
import {leaveLine} from '../core/line.js';
import type {World} from '../core/ports.js';
import {extend, release, reserve} from '../core/reservations.js';
import {reasonAgainstUndo, undoRelease, type Released} from '../core/undo.js';
import {ownerOf} from '../core/ownership.js';
import type {NotYours} from '../core/selection.js';
import type {GpuProcess, Requester} from '../core/types.js';
import {longDuration} from '../format/durations.js';
import {blockWords, refusalMessage} from '../format/refusal.js';
import {sanitize} from '../format/text.js';
import type {Complaint, Target} from './dialogs.js';
import type {SendSignal} from './ports.js';
import type {Flash} from './state.js';
import type {ReserveSubmission, Submission} from './submission.js';

export type Done = {
	readonly flash: Flash;
	/** A release that can be undone for a while. */
	readonly undo?: Released;
};

export type Outcome = Done | {readonly complaint: Complaint};

/** What neither the command line nor the leaving of the monitor has a part in. */
export type CoreSubmission = Exclude<Submission, {verb: 'command' | 'quit'}>;

const gpuList = (gpus: readonly number[]): string => `${gpus.length === 1 ? 'GPU' : 'GPUs'} ${gpus.join(',')}`;

const succeeded = (text: string, command?: string): Done => ({flash: {level: 'ok', text, command}});

const failed = (text: string): Done => ({flash: {level: 'error', text}});

export const complaintOf = ({message, hint}: CanhazgpuError): Complaint => ({
	message: sanitize(message),
	hint: sanitize(hint ?? ''),
});

/** What somebody got: now, or after a wait. */
export const grantedFlash = (gpus: readonly number[], durationSeconds: number): Flash => ({
	level: 'ok',
	text: `reserved ${gpuList(gpus)} for ${longDuration(durationSeconds)}`,
	command: `export CUDA_VISIBLE_DEVICES=${gpus.join(',')}`,
});

/** The lease that was shown is no longer there, or no longer the asker's. Nothing was done. */
function missed({gpu}: Target, verb: 'released' | 'extended', notYours: readonly NotYours[]): Outcome {
	const holder = notYours.find(({index}) => index === gpu);
	return failed(
		holder === undefined
			? `Nothing ${verb}: that reservation of GPU ${gpu} has ended meanwhile`
			: `Nothing ${verb}: GPU ${gpu} is held by ${sanitize(ownerOf(holder.lease))}`,
	);
}

async function performReserve(world: World, requester: Requester, submission: ReserveSubmission): Promise<Outcome> {
	const {gpus, durationSeconds} = submission;
	const answer = await reserve(world, {...submission, requester, ids: gpus?.map(({index}) => index)});
	return answer.kind === 'refused'
		? {complaint: {...refusalMessage(answer), canWait: true}}
		: {flash: grantedFlash(answer.gpus, durationSeconds)};
}

async function performRelease(world: World, requester: Requester, target: Target): Promise<Outcome> {
	const {released, notYours} = await release(world, requester, target.selection);
	const [first] = released;
	if (first === undefined) {
		return missed(target, 'released', notYours);
	}

	const canUndo = reasonAgainstUndo(first.lease) === undefined;
	return {
		...succeeded(`released GPU ${target.gpu}`, `canhazgpu release --gpu-ids ${target.gpu}`),
		undo: canUndo ? {gpus: released.map(({index}) => index), lease: first.lease} : undefined,
	};
}

async function performUndo(world: World, requester: Requester, released: Released): Promise<Outcome> {
	const answer = await undoRelease(world, requester, released);
	if (answer.kind === 'undone') {
		return succeeded(`reserved ${gpuList(answer.gpus)} again, until the same time as before`);
	}

	const words = answer.blocked.map(({index, block}) => `GPU ${index} ${blockWords(block, answer.now)}`);
	return failed(`Not undone: ${words.join(', ')}`);
}

async function performLeave(world: World, requester: Requester, id: string): Promise<Outcome> {
	const answer = await leaveLine(world, requester, id);
	switch (answer.kind) {
		case 'left': {
			return succeeded(`left the queue${answer.freed.length > 0 ? `, giving back ${gpuList(answer.freed)}` : ''}`);
		}

		case 'not-yours': {
			return failed(`Nothing left: that place is ${sanitize(ownerOf(answer.entry))}'s`);
		}

		case 'not-found':
		case 'ambiguous': {
			return failed('Nothing left: that place in the queue is gone already');
		}
	}
}

async function performAdopt(world: World, requester: Requester, {pid, startTicks}: GpuProcess): Promise<Outcome> {
	const {gpus, name} = await adopt(world, {requester, pid, startTicks});
	return succeeded(
		`adopted process ${pid}${name === undefined ? '' : ` (${sanitize(name)})`} on ${gpuList(gpus)}`,
		`canhazgpu reserve --pid ${pid}`,
	);
}

function performSignal(
	send: SendSignal | undefined,
	{process, signal}: Extract<Submission, {verb: 'signal'}>,
): Outcome {
	const {pid, startTicks} = process;
	const outcome = send?.({pid, startTicks}, signal);
	switch (outcome) {
		case 'sent': {
			return succeeded(`sent ${signal} to process ${pid}`, `kill -${signal.slice(3)} ${pid}`);
		}

		case 'gone': {
			return failed(`Nothing sent: process ${pid} has ended meanwhile`);
		}

		case 'not-yours': {
			return failed(`Nothing sent: process ${pid} is not yours`);
		}

		case 'unknown':
		case undefined: {
			return failed(`Nothing sent: it cannot be told whether process ${pid} is still the one that was shown`);
		}
	}
}

async function carryOut(
	world: World,
	requester: Requester,
	submission: CoreSubmission,
	send: SendSignal | undefined,
): Promise<Outcome> {
	switch (submission.verb) {
		case 'reserve': {
			return performReserve(world, requester, submission);
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
			return performRelease(world, requester, submission.target);
		}

		case 'undo': {
			return performUndo(world, requester, submission.released);
		}

		case 'leave': {
			return performLeave(world, requester, submission.entry.id);
		}

		case 'adopt': {
			return performAdopt(world, requester, submission.process);
		}

		case 'signal': {
			return performSignal(send, submission);
		}
	}
}

/**
Failures that a user can meet become words; any other error is a bug and is thrown.
*/
export async function perform(
	world: World,
	requester: Requester,
	submission: CoreSubmission,
	send?: SendSignal,
): Promise<Outcome> {
	try {
		return await carryOut(world, requester, submission, send);
	} catch (error) {
		if (error instanceof CanhazgpuError) {
			return {complaint: complaintOf(error)};
		}

		throw error;
	}
}
