import path from 'node:path';
import * as fc from 'fast-check';
import {expect, onTestFinished, test} from 'vitest';
import {demoScenario, demoScenarioFor} from '../../source/demo/scenario.js';
import {checkScenario, loadScenario} from '../../source/app/scenario.js';
import {CanhazgpuError} from '../../source/errors.js';
import type {Scenario} from '../../source/gpu/simulated/scenario.js';
import {createSimulatedProvider} from '../../source/gpu/simulated/simulated.js';
import {createBox} from '../_helpers/program/cli.js';
import {createFiles} from '../host/temporary.js';

const observeAt = async (scenario: Scenario, seconds: number) =>
	createSimulatedProvider({
		scenario,
		gpuCount: async () => 4,
		leases: async () => [],
		monotonicMs: () => 0,
		nowSeconds: () => 1000 + seconds,
		startedAtSeconds: 1000,
	}).observe();

const write = async (text: string) => path.join(await createFiles({'box.yaml': text}), 'box.yaml');

test('the simulated GPU provider applies every key of a scenario file', async () => {
	const scenario = await loadScenario(
		await write(`
model: Simulated MI300X
memory: 196592
processes:
  - {gpu: 0, user: dave, command: jupyter-lab --no-browser, memory: 20000, utilization: 40, pid: 4711, container: 0123456789ab}
  - {gpu: 0, user: eve, command: ./miner, memory: 3000, from: 1m, until: 90s}
failures:
  - {gpu: 1, words: GPU is lost, from: 10}
health:
  - {gpu: 2, kind: xid, words: 'Xid 79'}
hidden:
  - {gpu: 0, from: 5m}
unknown:
  - {gpu: 2, readings: [memoryUsedMiB, powerWatts], word: '[Unknown Error]'}
mig:
  - {gpu: 3, profiles: [1g.24gb, 3g.96gb]}
scans:
  - {failure: The driver hangs., from: 1h, until: 2h}
`),
	);
	const {gpus} = await observeAt(scenario, 0);
	expect(gpus[0]).toMatchObject({
		name: 'Simulated MI300X',
		memoryTotalMiB: 196_592,
		processes: [
			{
				pid: 4711,
				user: 'dave',
				name: 'jupyter-lab',
				commandLine: 'jupyter-lab --no-browser',
				memoryUsedMiB: 20_000,
				containerId: '0123456789ab',
			},
		],
	});
	expect(gpus[0]?.memoryUsedMiB).toBeGreaterThanOrEqual(20_003);
	expect(gpus[0]?.utilizationPercent).toBeGreaterThan(30);
	expect(gpus[1]?.failure).toBeUndefined();
	expect(gpus[2]).toMatchObject({
		health: [{kind: 'xid', words: 'Xid 79'}],
		memoryUsedMiB: undefined,
		powerWatts: undefined,
		unknown: {memoryUsedMiB: '[Unknown Error]', powerWatts: '[Unknown Error]'},
	});
	expect(gpus[3]).toMatchObject({isMigEnabled: true, migInstances: [{profile: '1g.24gb', memoryTotalMiB: 24_000}, {}]});

	const later = await observeAt(scenario, 80);
	expect(later.gpus[0]?.processes?.map(({user}) => user)).toEqual(['dave', 'eve']);
	expect(later.gpus[1]).toMatchObject({failure: 'GPU is lost', processes: undefined});
	expect(later.gpus[1]?.memoryUsedMiB).toBeUndefined();
	const much = await observeAt(scenario, 301);
	expect(much.gpus[0]?.processes).toBeUndefined();
	expect(much.gpus[0]?.memoryUsedMiB).toBeGreaterThan(20_000);
	expect(await observeAt(scenario, 3601)).toMatchObject({gpus: [], failure: {message: 'The driver hangs.'}});
	expect(await observeAt(scenario, 7201)).not.toHaveProperty('failure');
});

test('a simulated process with the key "every" starts again in each period', async () => {
	const scenario: Scenario = {
		processes: [{gpu: 0, command: 'x', memory: 3000, from: 30, until: 60, every: 100}],
	};
	const isThere = async (seconds: number) => {
		const {gpus} = await observeAt(scenario, seconds);
		return gpus[0]?.processes?.length === 1;
	};

	expect(await Promise.all([0, 31, 59, 60, 131, 161, 1031].map(async (seconds) => isThere(seconds)))).toEqual([
		false,
		true,
		true,
		false,
		true,
		false,
		true,
	]);
});

test.each([
	[
		'processes:\n  - {gpu: 1.5, command: x, memory: 1}',
		'processes.0.gpu must be a whole number from 0 to 1023, not 1.5',
	],
	['processes:\n  - {gpu: 1, memory: 1}', 'processes.0.command is missing'],
	['loads: []', 'unknown key loads'],
	['failures: yes please', 'failures must be a list, not "yes please"'],
	['scans:\n  - {failure: x, from: 1w}', 'scans.0.from must be a duration such as 90s or 1h30m, not "1w"'],
	['people:\n  - {user: ada, kind: batch}', 'people.0.kind must be run or manual, not "batch"'],
	['- 1', 'expected a map of keys such as processes or failures'],
	['gpus: [', 'it is not valid YAML, line 1: the indentation is wrong, or a bracket is not closed'],
])('loadScenario refuses %j: %s', async (text, problem) => {
	const file = await write(text);
	const error = await loadScenario(file).catch((error: unknown) => error);
	expect(error).toBeInstanceOf(CanhazgpuError);
	expect(error).toMatchObject({code: 'config', exitCode: 2});
	expect((error as CanhazgpuError).message).toContain(`The scenario ${file}: ${problem}`);
});

test('checkScenario throws nothing but CanhazgpuError for any JSON value', () => {
	fc.assert(
		fc.property(
			fc.oneof(fc.jsonValue(), fc.dictionary(fc.constantFrom('gpus', 'processes', 'people', 'scans'), fc.jsonValue())),
			(content) => {
				try {
					checkScenario(content, 'box.yaml');
				} catch (error) {
					expect(error).toBeInstanceOf(CanhazgpuError);
				}
			},
		),
	);
});

test('checkScenario accepts the demo scenario', () => {
	for (const scenario of [demoScenario, demoScenarioFor('root')]) {
		expect(checkScenario(structuredClone(scenario), 'demo')).toEqual(scenario);
	}
});

test('loadScenario reports a missing file as a configuration error', async () => {
	await expect(loadScenario('/no/such/box.yaml')).rejects.toMatchObject({
		code: 'config',
		message: expect.stringContaining('The scenario /no/such/box.yaml: it cannot be read') as string,
	});
});

test('status shows the failures of the configured scenario', async () => {
	const file = await write('failures:\n  - {gpu: 1, words: GPU is lost}\n');
	const bad = await write('failures:\n  - {gpu: one, words: GPU is lost}\n');
	const box = createBox({CANHAZGPU_SIMULATED_SCENARIO: file});
	onTestFinished(box.remove);
	await box.run('admin --gpus 2 --provider fake --store embedded');
	const {stdout} = await box.run('status --json');
	expect(JSON.parse(stdout)).toMatchObject([{status: 'AVAILABLE'}, {status: 'ERROR', error: 'GPU is lost'}]);
	const refused = await box.run('status', {CANHAZGPU_SIMULATED_SCENARIO: bad});
	expect(refused.exitCode).toBe(2);
	expect(refused.stderr).toContain(
		`Error: The scenario ${bad}: failures.0.gpu must be a whole number from 0 to 1023, not "one"`,
	);
});
