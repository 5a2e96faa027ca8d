import {describe, expect, test} from 'vitest';
import type {Job} from '../../../../source/core/model/jobs.js';
import type {Liveness} from '../../../../source/core/model/types.js';
import {lost, taken} from '../../../../source/core/rules/jobs/changes.js';
import {lossOf, planLook} from '../../../../source/core/rules/jobs/look.js';
import {testHost} from '../../../_helpers/machine/host.js';
import {job, listOf, now} from './_jobs.js';

const host = testHost();
const here = {machine: host.machineId, bootId: host.bootId};

/** Returns a host on which the processes with these pids have these states. All other processes are dead. */
const hostWith = (states: Readonly<Record<number, Liveness>>, orphans: 'alive' | 'dead' | 'unknown' = 'dead') =>
	testHost({
		liveness: (list) => list.map(({pid}) => states[pid] ?? 'dead'),
		orphansOf: () => orphans,
		uptimeSeconds: () => 1000,
	});

const running = (part: Partial<Job> = {}) =>
	job(7, {...here, state: 'running', holder: {pid: 1, startTicks: 1}, job: {pid: 2, startTicks: 2}, ...part});

describe('lossOf', () => {
	test.each([
		['running', undefined],
		['queued', 'its processes were killed'],
	] as const)(
		'counts a %s job without a wrapper as lost if processes of an earlier run are left: %s',
		(state, reason) => {
			expect(lossOf(running({state, job: undefined}), now, hostWith({}, 'alive'))).toBe(reason);
		},
	);

	test.each([
		['its wrapper is alive', {1: 'alive'}, undefined],
		['only its command is alive', {2: 'alive'}, undefined],
		['its wrapper is stopped', {1: 'stopped'}, undefined],
		['its processes are not visible', {1: 'unknown', 2: 'unknown'}, undefined],
		['wrapper and command are dead', {}, 'its processes were killed'],
	] as const)('counts a job as lost only if all its processes are known to be dead: %s', (_, states, reason) => {
		expect(lossOf(running(), now, hostWith(states))).toBe(reason);
	});

	test('counts a job with invisible processes as lost if its lease is among those that ended without a heartbeat', () => {
		const unseen = hostWith({1: 'unknown', 2: 'unknown'});
		const silent = new Set(['lease']);
		expect(lossOf(running({leaseId: 'lease'}), now, unseen, silent)).toBe('its heartbeat stopped');
		expect(lossOf(running({leaseId: 'other'}), now, unseen, silent)).toBeUndefined();
		expect(lossOf(running({leaseId: 'lease'}), now, hostWith({2: 'alive'}), silent)).toBeUndefined();
		expect(lossOf(running({leaseId: 'lease', state: 'queued'}), now, unseen, silent)).toBeUndefined();
	});

	test("waits for leftover processes if the wrapper died before it recorded the command's process", () => {
		expect(lossOf(running({job: undefined}), now, hostWith({}, 'alive'))).toBeUndefined();
		expect(lossOf(running({job: undefined}), now, hostWith({}, 'unknown'))).toBeUndefined();
		expect(lossOf(running({job: undefined}), now, hostWith({}, 'dead'))).toBe('its processes were killed');
	});

	test('gives a submitted job one minute to get a wrapper', () => {
		const fresh = job(7, {...here, isHeld: false, holder: {pid: 1, startTicks: 1}, submitTime: now - 30});
		expect(lossOf(fresh, now, hostWith({}))).toBeUndefined();
		expect(lossOf(fresh, now + 60, hostWith({}))).toBe('it could not be started');
	});

	test('counts a job from before a reboot as lost, but not a job of another machine', () => {
		expect(lossOf(running({bootId: 'earlier'}), now, hostWith({}))).toBe('the machine was restarted');
		expect(lossOf(running({bootId: 'clone', startTime: now - 10}), now, hostWith({}))).toBeUndefined();
		expect(lossOf(running({machine: 'other'}), now, hostWith({}))).toBeUndefined();
	});

	test('never counts an ended job as lost', () => {
		expect(lossOf(running({state: 'completed'}), now, hostWith({}))).toBeUndefined();
	});
});

describe('planLook', () => {
	const outcome = (...jobs: readonly Job[]) =>
		planLook(listOf(...jobs), hostWith({1: 'alive'})).writes.map((write) =>
			write.kind === 'job' ? [write.job.number, write.job.state, write.job.reason] : [],
		);
	const waiting = (number: number, id: string) =>
		job(number, {...here, holder: {pid: 1, startTicks: 1}, after: [{id, isAny: false}]});

	test('ends a cancelled job as cancelled if its wrapper was killed', () => {
		expect(outcome(running({holder: {pid: 3}, cancelledBy: 'alice'}))).toEqual([
			[7, 'cancelled', 'cancelled by alice'],
		]);
	});

	test('marks a job as lost and, in the same commit, cancels the jobs that depend on that job', () => {
		expect(outcome(running({holder: {pid: 3}}), waiting(8, '7'), waiting(9, '8'), waiting(10, '11'))).toEqual([
			[7, 'lost', 'its processes were killed'],
			[8, 'cancelled', 'job 7 was lost'],
			[9, 'cancelled', 'job 8 was cancelled'],
		]);
	});

	test('makes its commit depend on the records that it changes, and writes the ends of the jobs to the audit log', () => {
		const plan = planLook(listOf(running({holder: {pid: 3}}), waiting(8, '7')), hostWith({1: 'alive'}));
		expect(plan.expect).toEqual([
			{kind: 'job', number: 7, raw: 'raw-7'},
			{kind: 'job', number: 8, raw: 'raw-8'},
		]);
		expect(plan.audit.map(({kind, jobId, value}) => [kind, jobId, value])).toEqual([
			['finished', '7', 'lost'],
			['finished', '8', 'cancelled'],
		]);
	});

	test('makes its commit depend on the ended job because of which another job never starts', () => {
		const plan = planLook(listOf(running({state: 'failed'}), waiting(8, '7')), hostWith({1: 'alive'}));
		expect(plan.expect.map((each) => each.kind === 'job' && each.number)).toEqual([8, 7]);
	});

	test('changes nothing while all processes live', () => {
		expect(outcome(running(), waiting(8, '7'))).toEqual([]);
	});
});

test('a wrapper takes over its job even if the job already counts as lost, unless the job was retried', () => {
	const submitted = job(7, {isHeld: false});
	const counted = lost(submitted, 'it could not be started', now);
	expect(taken(counted, 'token-7', host)).toMatchObject({
		state: 'pending',
		isHeld: true,
		endTime: undefined,
		reason: undefined,
	});
	expect(taken(counted, 'another token', host)).toBeUndefined();
	expect(taken({...counted, isHeld: true}, 'token-7', host)).toBeUndefined();
	expect(taken({...submitted, state: 'cancelled'}, 'token-7', host)).toBeUndefined();
});
