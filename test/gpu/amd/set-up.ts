import {chmod, mkdtemp, readFile, writeFile} from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import {createAmdProvider} from '../../../source/gpu/amd/amd.js';
import {runTool} from '../../../source/host/tool/spawn.js';
import {describeProcesses, monotonicMs} from '../nvidia/set-up.js';
import type {Answer} from '../nvidia/stub-nvidia-smi.js';

/** Output by the first words of the query, such as `metric` or `metric --gpu 1`. The longest match is used. */
export type Answers = Readonly<Record<string, Answer>>;

const quantity = (value: number | string, unit: string) => ({value, unit});

/** Returns a GPU in the format of `amd-smi metric` in ROCm 6 and 7. */
export const metricOf = (gpu: number, usedVram = 300) => ({
	gpu,
	usage: {gfx_activity: quantity(usedVram > 1000 ? 88 : 0, '%'), umc_activity: quantity(3, '%')},
	power: {socket_power: quantity(141, 'W'), throttle_status: 'UNTHROTTLED'},
	clock: {gfx_0: {clk: quantity(2100, 'MHz')}, mem_0: {clk: quantity(1300, 'MHz')}},
	temperature: {edge: 'N/A', hotspot: quantity(51, 'C'), mem: quantity(40, 'C')},
	ecc: {total_correctable_count: 2, total_uncorrectable_count: 0},
	fan: {usage: 'N/A'},
	mem_usage: {total_vram: quantity(196_592, 'MB'), used_vram: quantity(usedVram, 'MB')},
});

export const staticOf = (gpu: number) => ({
	gpu,
	asic: {market_name: 'AMD Instinct MI300X'},
	bus: {bdf: `0000:0${gpu + 1}:00.0`},
	limit: {
		socket_power: quantity(750, 'W'),
		slowdown_edge_temperature: 'N/A',
		slowdown_hotspot_temperature: quantity(100, 'C'),
	},
	driver: {name: 'amdgpu', version: '6.12.12'},
	vram: {size: quantity(192, 'GB')},
});

export const listOf = (gpu: number) => ({gpu, bdf: `0000:0${gpu + 1}:00.0`, uuid: `uuid-${gpu}`});

export const idle = (gpu: number) => ({gpu, process_list: [{process_info: 'No running processes detected'}]});

export const busy = (gpu: number, pid: number, bytes: number) => ({
	gpu,
	process_list: [{process_info: {name: 'python3', pid, memory_usage: {vram_mem: quantity(bytes, 'B')}}}],
});

export const json = (value: unknown): Answer => ({stdout: `${JSON.stringify(value, undefined, 4)}\n`});

/** Output about two GPUs, of which the second is in use, in the format of ROCm 7. */
export const goodAnswers: Answers = {
	metric: json({gpu_data: [metricOf(0), metricOf(1, 40_000)]}),
	process: json([idle(0), busy(1, 2 ** 22 + 7, 38_000 * 2 ** 20)]),
	static: json({gpu_data: [staticOf(0), staticOf(1)]}),
	list: json([listOf(0), listOf(1)]),
};

/** Creates a program with fixed output, in its own directory. */
export const createStub = async (name: string, answers: Answers) => {
	const directory = await mkdtemp(path.join(os.tmpdir(), `${name}-`));
	const command = path.join(directory, name);
	const log = path.join(directory, 'calls');
	const cases = await Promise.all(
		Object.entries(answers)
			.toSorted(([a], [b]) => b.length - a.length)
			.map(async ([question, {stdout = '', stderr = '', exitCode = 0, before = ''}], position) => {
				await writeFile(path.join(directory, `${position}.out`), stdout);
				await writeFile(path.join(directory, `${position}.err`), stderr);
				return `'${question}'*)\n${before}\ncat '${directory}/${position}.out'; cat '${directory}/${position}.err' >&2; exit ${exitCode};;`;
			}),
	);
	const script = ['#!/bin/sh', `echo "$*" >> '${log}'`, 'case "$*" in', ...cases, 'esac', 'exit 2'];
	await writeFile(command, script.join('\n'));
	await chmod(command, 0o755);
	await writeFile(log, '');
	return {
		directory,
		command,
		async calls(): Promise<readonly string[]> {
			const text = await readFile(log, 'utf8');
			return text.split('\n').slice(0, -1);
		},
	};
};

/** Creates a provider. With `oldAnswers`, the output of rocm-smi, there is no amd-smi. */
export const setUp = async ({
	answers = goodAnswers,
	oldAnswers,
	timeoutMs = 5000,
}: {readonly answers?: Answers; readonly oldAnswers?: Answers; readonly timeoutMs?: number} = {}) => {
	const stub =
		oldAnswers === undefined ? await createStub('amd-smi', answers) : await createStub('rocm-smi', oldAnswers);
	const nowhere = path.join(stub.directory, 'no-such-tool');
	const provider = createAmdProvider({
		run: runTool,
		describeProcesses,
		monotonicMs,
		timeLimitMs: () => timeoutMs,
		command: oldAnswers === undefined ? stub.command : nowhere,
		oldCommand: oldAnswers === undefined ? nowhere : stub.command,
	});
	return {stub, provider};
};

export const observe = async (answers: Answers) => {
	const {provider} = await setUp({answers: {...goodAnswers, ...answers}});
	return provider.observe();
};
