/** Carries out what a dialog asks for, by the verbs of the core, and words the answer. */
import {CanhazgpuError} from '../../errors.js';
import {adopt} from '../../core/operations/adopt.js';
import {leaveQueue} from '../../core/operations/queue-rows.js';
import type {World} from '../../core/model/ports.js';
import {extend, release, reserve} from '../../core/operations/reservations.js';
import {undoableOf, type Released} from '../../core/operations/undo.js';
import {ownerOf} from '../../core/rules/leases/ownership.js';
import {problemWith} from '../../core/rules/leases/process-targets.js';
import type {HeldGpu, NotYours} from '../../core/rules/leases/selection.js';
import type {GpuProcess, Requester} from '../../core/model/types.js';
import {longDuration, typedDuration} from '../../format/text/durations.js';
import {gpuList} from '../../format/text/gpu-list.js';
import {refusalMessage} from '../../format/refusal.js';
import {sanitize} from '../../format/text/text.js';
import type {MonitorPorts} from '../ports.js';
import type {Complaint} from '../state/complaint.js';
import type {Flash} from '../state/flash.js';
import {scanProcesses, problemWords} from './own-scan.js';
import type {ReserveRequestInput, VerbRequest} from './request.js';

export type Done = {
	readonly flash: Flash;
	/** A release that can be undone for a while. */
	readonly undo?: readonly Released[];
};

export type Outcome = Done | {readonly complaint: Complaint};

/** What reaches processes of this machine. */
export type ProcessPorts = Pick<MonitorPorts, 'sendSignal' | 'inspectProcesses'>;

/** What neither the command line nor the leaving of the monitor has a part in. */
export type CoreRequest = Exclude<VerbRequest, {verb: 'command' | 'quit'}>;

const succeeded = (text: string, command?: string): Done => ({flash: {level: 'ok', text, command}});

/** Done, but not to all that it was about. */
const halfDone = (text: string, command?: string): Done => ({flash: {level: 'warning', text, command}});

const failed = (text: string): Done => ({flash: {level: 'error', text}});

export const complaintOf = ({message, hint}: CanhazgpuError): Complaint => ({
	message: sanitize(message),
	hint: sanitize(hint ?? ''),
});

/** What somebody got: now, or after a wait. */
export const grantedFlash = (gpus: readonly number[], durationSeconds: number): Flash => ({
	level: 'ok',
	text: `reserved ${gpuList(gpus)} for ${longDuration(durationSeconds)}`,
	next: `export CUDA_VISIBLE_DEVICES=${gpus.join(',')}`,
});

type Targeted = {
	readonly verb: 'released' | 'extended';
	readonly targets: readonly HeldGpu[];
	/** Those that it was done to. */
	readonly done: readonly number[];
	readonly notYours: readonly NotYours[];
};

/** What became of the leases that were shown: some may be gone, or no longer the asker's, and to those nothing was done. */
function told({verb, targets, done, notYours}: Targeted, addition: string, command: string): Done {
	const missed = targets.map(({index}) => index).filter((index) => !done.includes(index));
	const [holder] = notYours;
	const reason =
		holder === undefined
			? missed.length === 1
				? `that reservation of ${gpuList(missed)} has ended meanwhile`
				: `those reservations of ${gpuList(missed)} have ended meanwhile`
			: `GPU ${holder.index} is held by ${sanitize(ownerOf(holder.lease))}`;
	if (done.length === 0) {
		return failed(`Nothing ${verb}: ${reason}`);
	}

	const text = `${verb} ${gpuList(done)}${addition}`;
	return missed.length === 0 ? succeeded(text, command) : halfDone(`${text}, but ${reason}`, command);
}

async function performReserve(world: World, requester: Requester, request: ReserveRequestInput): Promise<Outcome> {
	const {gpus, durationSeconds} = request;
	const answer = await reserve(world, {...request, requester, ids: gpus?.map(({index}) => index)});
	return answer.kind === 'refused'
		? {complaint: {...refusalMessage(answer), canWait: true}}
		: {flash: grantedFlash(answer.gpus, durationSeconds)};
}

async function performRelease(world: World, requester: Requester, targets: readonly HeldGpu[]): Promise<Outcome> {
	const {released, notYours} = await release(world, requester, {by: 'leases', leases: targets});
	const done = released.map(({index}) => index);
	return {
		...told({verb: 'released', targets, done, notYours}, '', `canhazgpu release --gpu-ids ${done.join(',')}`),
		undo: undoableOf(released),
	};
}

async function performExtend(
	world: World,
	requester: Requester,
	{targets, bySeconds}: Extract<VerbRequest, {verb: 'extend'}>,
): Promise<Outcome> {
	const selection = {by: 'leases', leases: targets} as const;
	const {extended, notYours, notTimed} = await extend(world, requester, selection, {by: bySeconds});
	if (notTimed.length > 0) {
		return failed(`Nothing extended: ${gpuList(notTimed)} held by a run, which ends with its job`);
	}

	const done = extended.map(({index}) => index);
	return told(
		{verb: 'extended', targets, done, notYours},
		` by ${longDuration(bySeconds)}`,
		`canhazgpu extend --gpu-ids ${done.join(',')} --duration ${typedDuration(bySeconds)}`,
	);
}

async function performLeave(world: World, requester: Requester, id: string): Promise<Outcome> {
	const answer = await leaveQueue(world, requester, id);
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

async function performSignal(
	world: World,
	{sendSignal, inspectProcesses}: ProcessPorts,
	{process, gpu, signal}: Extract<VerbRequest, {verb: 'signal'}>,
): Promise<Outcome> {
	const {pid, startTicks} = process;
	const problem = problemWith(process, gpu, await scanProcesses(world, inspectProcesses, gpu, [pid]));
	if (problem !== undefined) {
		return failed(`Nothing sent: ${problemWords(pid, gpu, problem)}`);
	}

	// The start time is compared once more immediately before the signal.
	const outcome = sendSignal?.({pid, startTicks}, signal);
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
	request: CoreRequest,
	ports: ProcessPorts,
): Promise<Outcome> {
	switch (request.verb) {
		case 'reserve': {
			return performReserve(world, requester, request);
		}

		case 'extend': {
			return performExtend(world, requester, request);
		}

		case 'release': {
			return performRelease(world, requester, request.targets);
		}

		case 'leave': {
			return performLeave(world, requester, request.entry.id);
		}

		case 'adopt': {
			return performAdopt(world, requester, request.process);
		}

		case 'signal': {
			return performSignal(world, ports, request);
		}
	}
}

/**
Failures that a user can meet become words; any other error is a bug and is thrown.
*/
export async function perform(
	world: World,
	requester: Requester,
	request: CoreRequest,
	ports: ProcessPorts = {},
): Promise<Outcome> {
	try {
		return await carryOut(world, requester, request, ports);
	} catch (error) {
		if (error instanceof CanhazgpuError) {
			return {complaint: complaintOf(error)};
		}

		throw error;
	}
}
