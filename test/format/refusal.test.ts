import {expect, test} from 'vitest';
import type {Block, Refusal} from '../../source/core/rules/grants/newcomer-grant.js';
import type {QueueEntry} from '../../source/core/model/types.js';
import {refusalMessage, unusableText} from '../../source/format/queue/refusal.js';

const refusal = (blocks: readonly Block[], changes: Partial<Refusal> = {}): Refusal => ({
	kind: 'refused',
	wanted: {count: 3},
	available: 1,
	blocked: blocks.map((block, index) => ({index, block})),
	now: 1000,
	...changes,
});

const unreserved: Block = {kind: 'unreserved', users: ['dave'], memoryUsedMiB: 8000};
const held: Block = {kind: 'leased', lease: {user: 'bob', type: 'manual', startTime: 0, expiryTime: 4600}};
const erin: QueueEntry = {
	id: 'q',
	user: 'erin',
	requestedCount: 1,
	requestedIds: [],
	allocatedGpus: [],
	reservationType: 'run',
	enqueueTime: 0,
	lastHeartbeat: 0,
};
const queued: Block = {kind: 'queued', entry: erin};

test('a refusal because of too few available GPUs has the same message as in the Go canhazgpu', () => {
	expect(refusalMessage(refusal([unreserved, unreserved]))).toEqual({
		message:
			"Not enough GPUs available. Requested: 3, Available: 1 (2 GPUs in use without reservation - run 'canhazgpu status' for details)",
		hint: 'See who holds them, and until when: canhazgpu status. --force ignores use without a reservation.',
	});
	expect(refusalMessage(refusal([held])).message).toBe('Not enough GPUs available. Requested: 3, Available: 1');
});

test('a refusal states how many GPUs are unavailable for each reason', () => {
	expect(
		refusalMessage(
			refusal([
				unreserved,
				queued,
				{kind: 'failed', why: 'lost'},
				{kind: 'garbage', problem: '?'},
				{kind: 'unknown-use', why: '?'},
			]),
		).message,
	).toBe(
		"Not enough GPUs available. Requested: 3, Available: 1 (1 GPUs in use without reservation, 1 GPU kept for the queue, 2 GPUs with problems, 1 GPU that may be in use - run 'canhazgpu status' for details)",
	);
});

test('a refusal states the reason for each requested GPU id', () => {
	expect(
		refusalMessage(
			refusal([held, unreserved, queued, {kind: 'failed', why: 'GPU is lost'}, held, held], {
				wanted: {count: 6, ids: []},
			}),
		).hint,
	).toBe(
		'GPU 0 is held by bob for another 1h 0m 0s, GPU 1 is used without a reservation by dave, GPU 2 is kept for erin, who waits in the queue, GPU 3 may be in use: GPU is lost and 2 more. --force ignores use without a reservation and problems of a GPU.',
	);
});

test('a refusal shows the end of a time limit in the same way as an expiry', () => {
	const run = {user: 'bob', type: 'run', startTime: 0} as const;
	const limited: Block = {kind: 'leased', lease: {...run, endsBy: 1060}};
	const partial: Block = {kind: 'leased', lease: {...run, endsBy: 1060, partialQueueId: 'q'}};
	expect(refusalMessage(refusal([limited, partial], {wanted: {count: 2, ids: [0, 1]}})).hint).toBe(
		'GPU 0 is held by bob for another 0h 1m 0s, GPU 1 is held for bob, who waits in the queue.',
	);
});

test('a refusal counts reserved GPUs only if GPU ids were requested', () => {
	expect(refusalMessage(refusal([held], {wanted: {count: 1, ids: [0]}})).message).toBe(
		"Not enough GPUs available. Requested: 1, Available: 1 (1 GPU already reserved - run 'canhazgpu status' for details)",
	);
	expect(refusalMessage(refusal([held], {wanted: {count: 1}})).message).toBe(
		'Not enough GPUs available. Requested: 1, Available: 1',
	);
});

test('a refusal does not suggest --force if --force is not available', () => {
	expect(refusalMessage(refusal([unreserved]), {canForce: false}).hint).toBe(
		'See who holds them, and until when: canhazgpu status.',
	);
	expect(refusalMessage(refusal([{kind: 'not-scanned', why: 'nvidia-smi timed out.'}]), {canForce: false}).hint).toBe(
		'The GPUs cannot be read, so none is granted: nvidia-smi timed out.',
	);
});

test('a refusal tells the user of an unreserved process how to reserve its GPU', () => {
	const asked = refusal([unreserved], {wanted: {count: 1, ids: [0]}});
	expect(refusalMessage(asked, {account: 'dave'}).hint).toBe(
		'GPU 0 is used without a reservation by dave. --force ignores use without a reservation. To reserve a GPU that you are using already: canhazgpu reserve --pid PID.',
	);
	expect(refusalMessage(asked, {account: 'erin'}).hint).not.toContain('--pid');
});

test('a refusal does not describe a broken GPU as used', () => {
	const asked = refusal([{kind: 'failed', why: 'GPU is lost'}], {wanted: {count: 1, ids: [0]}});
	expect(refusalMessage(asked).hint).toBe('GPU 0 may be in use: GPU is lost. --force ignores problems of a GPU.');
});

test('a refusal mentions a failed GPU scan first', () => {
	expect(refusalMessage(refusal([{kind: 'not-scanned', why: 'nvidia-smi timed out.'}])).hint).toBe(
		'The GPUs cannot be read, so none is granted: nvidia-smi timed out. --force reserves them anyway.',
	);
});

test('unusableText mentions a failed scan only once', () => {
	const unusable = [0, 1, 2].map((index) => ({
		index,
		block: {kind: 'not-scanned', why: 'The NVIDIA driver is not loaded.'} as const,
	}));
	expect(unusableText(unusable)).toBe('the GPUs cannot be read: The NVIDIA driver is not loaded');
});
