import fc from 'fast-check';
import {expect, test} from 'vitest';
import {ownTargets, problemWith, type OwnScan} from '../../../../source/core/rules/processes/process-targets.js';
import type {GpuProcess, ProcessFacts} from '../../../../source/core/model/types.js';
import {idleReading, observationOf} from '../../../_helpers/world.js';

const pid = fc.integer({min: 1, max: 4});
const ticks = fc.integer({min: 1, max: 2});
const said: fc.Arbitrary<GpuProcess> = fc.record({
	pid,
	startTicks: ticks,
	user: fc.constantFrom('alice', 'bob'),
	name: fc.string(),
	commandLine: fc.string(),
	memoryUsedMiB: fc.nat(),
});
const fact: fc.Arbitrary<ProcessFacts> = fc.record({
	pid,
	startTicks: ticks,
	isOwn: fc.boolean(),
	user: fc.constantFrom('alice', 'bob'),
	name: fc.constant('true name'),
	commandLine: fc.constant('true command'),
});
const anyScan: fc.Arbitrary<OwnScan> = fc
	.record({
		processes: fc.uniqueArray(said, {selector: (process) => process.pid}),
		facts: fc.uniqueArray(fact, {selector: (process) => process.pid}),
		hasFailed: fc.boolean(),
	})
	.map(({processes, facts, hasFailed}) => ({
		observation: observationOf(hasFailed ? [] : [idleReading(0), {...idleReading(1), processes}], {
			takenAtMs: 0,
			...(hasFailed && {failure: {message: 'no tool'}}),
		}),
		facts: new Map(facts.map((each) => [each.pid, each])),
	}));

test("a process can be signaled only if the caller's own scan lists that process with the same start time", () => {
	fc.assert(
		fc.property(said, fc.constantFrom(0, 1), anyScan, (shown, gpu, seen) => {
			const known = seen.facts.get(shown.pid);
			const isOnGpu = seen.observation.gpus[gpu]?.processes?.some((process) => process.pid === shown.pid) ?? false;
			const may = problemWith(shown, gpu, seen) === undefined;
			expect(may).toBe(isOnGpu && known?.isOwn === true && known.startTicks === shown.startTicks);
		}),
	);
});

test('a simulated process counts as running although no real process has its pid', () => {
	const shown = {pid: 5_000_000, startTicks: 1};
	const scanOf = (processes: readonly GpuProcess[]): OwnScan => ({
		observation: observationOf([{...idleReading(0), processes}], {simulated: true}),
		facts: new Map(),
	});
	expect(problemWith(shown, 0, scanOf([shown]))).toEqual({kind: 'simulated'});
	expect(problemWith(shown, 0, scanOf([]))).toEqual({kind: 'gone'});
	expect(problemWith({...shown, startTicks: 2}, 0, scanOf([shown]))).toEqual({kind: 'gone'});
});

test('a process without a start time is never signaled', () => {
	fc.assert(
		fc.property(pid, anyScan, (shown, seen) => {
			expect(problemWith({pid: shown, startTicks: undefined}, 1, seen)).toMatchObject({kind: 'gone'});
		}),
	);
});

test("ownTargets returns only the user's own processes on the GPU, with command lines from the kernel", () => {
	fc.assert(
		fc.property(anyScan, (seen) => {
			const targets = ownTargets(seen, 1);
			for (const target of targets) {
				expect(target).toMatchObject({name: 'true name', commandLine: 'true command'});
				expect(problemWith(target, 1, seen)).toBeUndefined();
			}

			const own = seen.observation.gpus[1]?.processes?.filter((process) => seen.facts.get(process.pid)?.isOwn) ?? [];
			expect(targets.map((target) => target.pid)).toEqual(own.map((process) => process.pid));
		}),
	);
});
