import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import type {AuditRecord} from '../../source/core/model/types.js';
import {eventJson, eventLine, eventText} from '../../source/format/events.js';
import {eventTime} from '../../source/format/text/days.js';
import {anyAudit} from '../store/records/arbitraries.js';

const words = (part: Partial<AuditRecord>): string =>
	eventText({time: 1000, kind: 'granted', account: 'alice', gpus: [2], ...part});

describe('an event', () => {
	test.each<[Partial<AuditRecord>, string]>([
		[{}, 'alice got GPU 2'],
		[{gpus: [0, 5], label: 'team', until: 6400.4, note: 'train'}, 'alice (team) got GPUs 0,5 for 1h30m · train'],
		[{forced: true}, 'alice got GPU 2, by force'],
		[{via: 'web', note: 'eval'}, 'alice got GPU 2, in the browser · eval'],
		[{account: 'root', owner: 'bob', label: 'team', reason: 'process 7'}, 'root got GPU 2 for bob, for process 7'],
		[{reason: 'restored'}, 'alice got GPU 2 back after the store had lost it'],
		[{reason: 'restored', gpus: [0, 5], until: 4600}, 'alice got GPUs 0,5 back for 1h after the store had lost them'],
		[{reason: 'taken back'}, 'alice got GPU 2 back, which was still in use'],
		[{reason: 'undone', until: 1060}, 'alice got GPU 2 back for 1m'],
		// Slurm does not record which GPUs a job had.
		[{gpus: [], count: 2}, 'alice got 2 GPUs'],
		[{kind: 'ended', gpus: [], count: 1, reason: 'exited'}, 'alice no longer has 1 GPU: the job ended'],
		[{kind: 'held'}, 'alice holds GPU 2 while waiting for more'],
		[{memoryMiB: 8192, until: 4600}, 'alice got a share of 8G of GPU 2 for 1h'],
		[{kind: 'released', memoryMiB: 512, gpus: [0, 2]}, 'alice released a share of 512M of GPUs 0,2'],
		[{kind: 'ended', memoryMiB: 8192, reason: 'exited'}, 'alice no longer has a share of 8G of GPU 2: the job ended'],
		[{kind: 'expired', memoryMiB: 8192}, "alice's reservation of a share of 8G of GPU 2 expired"],
		[{kind: 'joined', memoryMiB: 8192, gpus: [], count: 2}, 'alice joined the queue for a share of 8G of 2 GPUs'],
		[{kind: 'overuse', memoryMiB: 8192, usedMiB: 16_384}, 'alice uses 16G of GPU 2, more than its share of 8G'],
		[
			{kind: 'overuse', memoryMiB: 8192, usedMiB: 8000, reason: 'over'},
			'alice is back within the share of 8G of GPU 2',
		],
		[{kind: 'released'}, 'alice released GPU 2'],
		[{kind: 'released', account: 'root', owner: 'alice'}, 'root released GPU 2 of alice'],
		[{kind: 'extended', until: 4600}, 'alice extended GPU 2: 1h left'],
		[{kind: 'expired'}, "alice's reservation of GPU 2 expired"],
		[{kind: 'expired', time: 10_000, until: 2000}, "alice's reservation of GPU 2 expired 2h ago"],
		[{kind: 'ended', reason: 'holder-died'}, 'alice no longer has GPU 2: its process was gone'],
		[
			{kind: 'ended', account: 'root', owner: 'bob', label: 'team', reason: 'pool-reset'},
			'bob (team) no longer has GPU 2: the pool was created again',
		],
		[{kind: 'expired', account: 'root', owner: 'bob'}, "bob's reservation of GPU 2 expired"],
		[{kind: 'ended', reason: 'a later version'}, 'alice no longer has GPU 2: a later version'],
		[{kind: 'ended', reason: 'toString'}, 'alice no longer has GPU 2: toString'],
		[
			{kind: 'refused', gpus: [], count: 3, reason: '1 available'},
			'alice asked for 3 GPUs and got nothing: 1 available',
		],
		[{kind: 'refused', reason: 'waited in vain'}, 'alice gave up waiting for GPU 2'],
		[{kind: 'joined', gpus: [], count: 1}, 'alice joined the queue for 1 GPU'],
		[
			{kind: 'joined', gpus: [], count: 2, need: {minMemoryMiB: 38_147, models: ['h100']}},
			'alice joined the queue for 2 GPUs of model h100, with 40G or more',
		],
		[
			{kind: 'joined', gpus: [], count: 1, memoryMiB: 8192, need: {shareMiB: 8192, minCompute: '8.9'}},
			'alice joined the queue for a share of 8G of 1 GPU of compute capability 8.9 or higher',
		],
		[
			{kind: 'refused', gpus: [], count: 1, need: {mig: {profile: '1g.10gb'}}, reason: '0 available'},
			'alice asked for 1 MIG instance of 1g.10gb or larger and got nothing: 0 available',
		],
		[
			{kind: 'refused', gpus: [], count: 1, need: {mig: {instances: [{gpu: 7, number: 1}]}}, reason: 'waited in vain'},
			'alice gave up waiting for MIG instance 7:1',
		],
		[{kind: 'left'}, 'alice left the queue'],
		[{kind: 'left', reason: 'holder-died'}, 'alice left the queue: its process was gone'],
		[{kind: 'left', account: 'root', owner: 'bob'}, 'root took bob out of the queue'],
		[{kind: 'drained', reason: 'fan'}, 'alice took GPU 2 out of service: fan'],
		[{kind: 'undrained'}, 'alice put GPU 2 back into service'],
		[{kind: 'policy', gpus: [], account: 'root', key: 'strategy', value: 'lru'}, 'root set strategy=lru in the policy'],
		[
			{kind: 'policy', gpus: [], account: 'root', key: 'strategy', value: 'lru', before: {value: 'mru'}},
			'root set strategy=lru in the policy, which was mru',
		],
		[
			{kind: 'policy', gpus: [], account: 'root', key: 'strategy', before: {value: 'lru'}},
			'root unset strategy in the policy, which was lru',
		],
		[{kind: 'policy', gpus: [], account: 'root', key: 'all'}, 'root unset the whole policy, which could not be read'],
		// Early versions did not record the previous values in events.
		[{kind: 'pool', gpus: [], count: 8, reason: 'remade', note: 'fake'}, 'alice recreated the pool: 8 GPUs · fake'],
		[
			{
				kind: 'pool',
				gpus: [],
				count: 1,
				provider: 'amd',
				reason: 'remade',
				before: {location: '/pool', count: 2, provider: 'fake'},
			},
			'alice recreated the pool, which was in /pool: from 2 GPUs (fake) to 1 GPU (amd)',
		],
		[
			{kind: 'pool', gpus: [], count: 8, provider: 'fake', reason: 'restored'},
			'alice restored the pool after the store had lost it: 8 GPUs (fake)',
		],
		[{kind: 'unreserved', account: undefined}, 'an unknown user uses GPU 2 without a reservation'],
		[{kind: 'squatter', account: 'eve', owner: 'bob'}, 'eve uses GPU 2, which bob has reserved'],
		[{kind: 'health', reason: 'Xid 79'}, 'GPU 2 is unhealthy (Xid 79) and will not be handed out'],
		[{kind: 'health'}, 'GPU 2 is healthy again'],
		[{kind: 'submitted', jobId: '7', count: 1}, 'alice submitted job 7'],
		[{kind: 'submitted', jobId: '7', count: 3}, 'alice submitted array 7 with 3 jobs'],
		[{kind: 'finished', jobId: '7_3', value: 'completed'}, 'job 7_3 of alice completed'],
		[
			{kind: 'finished', jobId: '7', value: 'failed', reason: 'out of GPU memory'},
			'job 7 of alice failed: out of GPU memory',
		],
		[
			{kind: 'finished', jobId: '7', owner: 'bob', value: 'cancelled', reason: 'cancelled by alice'},
			'job 7 of bob was cancelled: cancelled by alice',
		],
		[{kind: 'notice', reason: 'hello'}, 'hello'],
	])('%j is described as "%s"', (part, expected) => {
		expect(words(part)).toBe(expected);
	});

	test('is described on one line without control characters', () => {
		fc.assert(
			fc.property(
				anyAudit,
				fc.string({unit: 'binary', maxLength: 300}),
				fc.constantFrom('account', 'label', 'owner', 'reason', 'note', 'key', 'value'),
				(record, text, field) => {
					const line = eventLine({...record, [field]: text}, record.time);
					expect(line).not.toMatch(
						/[\p{Control}\p{Line_Separator}\p{Paragraph_Separator}\u{202A}-\u{202E}\u{2066}-\u{2069}]/v,
					);
				},
			),
		);
	});

	test('shows its date unless it happened today', () => {
		const time = new Date(2026, 4, 1, 23, 59, 58).getTime() / 1000;
		expect(eventTime(time, time + 1)).toBe('23:59:58');
		expect(eventTime(time, time + 2)).toBe('2026-05-01 23:59:58');
	});

	test('is encoded as JSON with its known values and its text', () => {
		expect(eventJson({id: '7-0', time: 1000.5, kind: 'released', gpus: [1]})).toEqual({
			id: '7-0',
			time: '1970-01-01T00:16:40.500Z',
			kind: 'released',
			gpus: [1],
			words: 'an unknown user released GPU 1',
		});
	});
});
