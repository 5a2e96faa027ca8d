/**
Every word that a tool may print in place of a reading, in every field that is asked for. The expected verdicts are written down here once more,
so that a slip in the table of the program is seen.
*/
import * as fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import {judgeUsage} from '../../source/core/rules/usage/gpu-usage.js';
import {readGpus} from '../../source/gpu/amd/gpus.js';
import {readCards} from '../../source/gpu/amd/rocm-smi.js';
import {gpuFields} from '../../source/gpu/nvidia/fields.js';
import {parseGpuTable} from '../../source/gpu/nvidia/gpus.js';
import type {NativeLibrary} from '../../source/gpu/nvidia/nvml/library.js';
import {openScanner} from '../../source/gpu/nvidia/nvml/scan.js';
import {attachProcesses, parseProcessTable} from '../../source/gpu/nvidia/processes.js';
import type {BareReading} from '../../source/gpu/reading.js';
import {metricOf} from './amd/set-up.js';

const threshold = 1024;

/** `use` is `idle` where the word only leaves a reading unknown. */
const verdictOf = (gpu: BareReading | undefined) => ({
	failure: gpu?.failure,
	use: judgeUsage(gpu && {...gpu, processes: []}, threshold).kind,
});

const lost = ['GPU requires reset', 'GPU is lost'];
const errors = ['Unknown Error', 'Timeout', 'GPU access blocked by the operating system', 'Something new'];
const absent = ['N/A', 'Not Supported', 'Insufficient Permissions', 'Not Found'];
const bracketed = (words: readonly string[]) => words.map((word) => `[${word}]`);

/** Breaks the GPU where it stands in a vital field. */
const errorWords = [...bracketed(errors), 'ERR!'];
/** Leaves the reading unknown, and never breaks the GPU. */
const harmlessWords = [
	...bracketed(absent),
	'N/A',
	'',
	'-1',
	'[Requested functionality has been deprecated]',
];

describe('nvidia-smi', () => {
	const cells: Readonly<Record<string, string>> = {
		index: '0',
		uuid: 'GPU-0a0a0a0a-1111-2222-3333-000000000000',
		'pci.bus_id': '00000000:02:00.0',
		name: 'NVIDIA H100 80GB HBM3',
		'memory.total': '81559',
		'memory.used': '2',
		'utilization.gpu': '0',
		'utilization.memory': '0',
		'temperature.gpu': '31',
		pstate: 'P0',
		'power.draw': '69.85',
		'power.limit': '700.00',
		'fan.speed': '30',
		'clocks.current.sm': '345',
		'clocks.current.memory': '2619',
		compute_mode: 'Default',
		'ecc.errors.uncorrected.volatile.total': '0',
		'retired_pages.pending': '[N/A]',
		driver_version: '580.65.06',
		kmd_version: '610.1',
		'mig.mode.current': 'Disabled',
		'mig.mode.pending': 'Disabled',
		'memory.reserved': '612',
		compute_cap: '9.0',
		'clocks_event_reasons.active': '0x0000000000000001',
		'clocks_throttle_reasons.active': '0x0000000000000001',
		'temperature.gpu.tlimit': '50',
		gpu_recovery_action: 'None',
		'remapped_rows.failure': 'No',
		'reset_status.reset_required': 'No',
		'reset_status.drain_and_reset_recommended': 'No',
	};
	const asked = [undefined, 400, 510, 550, 580, 610].map((driver) => gpuFields(new Set(), driver));
	const vital = new Set([
		'uuid',
		'memory.total',
		'memory.used',
		'memory.reserved',
		'utilization.gpu',
		'utilization.memory',
		'temperature.gpu',
		'pstate',
		'clocks.current.sm',
		'clocks.current.memory',
	]);

	const read = (fields: readonly string[], changed: Readonly<Record<string, string>>) => {
		const row = fields.map((field) => changed[field] ?? cells[field] ?? '?');
		return parseGpuTable(`${fields.join(', ')}\n${row.join(', ')}\n`, '')?.gpus[0];
	};

	const fieldsAndField = fc
		.constantFrom(...asked)
		.chain((fields) => fc.tuple(fc.constant(fields), fc.constantFrom(...fields.filter((field) => field !== 'index'))));

	test('a healthy row is idle, with every set of fields', () => {
		for (const fields of asked) {
			expect(fields).toContain('pstate');
			expect(verdictOf(read(fields, {}))).toEqual({failure: undefined, use: 'idle'});
		}
	});

	test('a word that the GPU is lost or requires a reset breaks the GPU in any field', () => {
		fc.assert(
			fc.property(fieldsAndField, fc.constantFrom(...lost), ([fields, field], word) => {
				const gpu = read(fields, {[field]: `[${word}]`});
				expect(verdictOf(gpu)).toEqual({failure: `${word} (${field})`, use: 'failed'});
				expect(gpu?.health).toMatchObject([{kind: word === 'GPU is lost' ? 'fell-off-the-bus' : 'needs-reset'}]);
			}),
			{numRuns: 500},
		);
	});

	test('an error word breaks the GPU in a vital field, and leaves any other reading unknown', () => {
		fc.assert(
			fc.property(fieldsAndField, fc.constantFrom(...errorWords), ([fields, field], word) => {
				expect(verdictOf(read(fields, {[field]: word}))).toEqual(
					vital.has(field)
						? {failure: `${word.replaceAll(/[\[\]]/gv, '')} (${field})`, use: 'failed'}
						: {failure: undefined, use: 'idle'},
				);
			}),
			{numRuns: 2000},
		);
	});

	test('a word for a reading that is not there, and damaged text, break no GPU', () => {
		fc.assert(
			fc.property(fieldsAndField, fc.constantFrom(...harmlessWords), ([fields, field], word) => {
				const {failure, use} = verdictOf(read(fields, {[field]: word}));
				expect(failure).toBeUndefined();
				// Memory that is unknown is not free. [N/A] stands for memory that the GPU does not have.
				expect(use === 'idle' || field === 'memory.used').toBe(true);
			}),
			{numRuns: 2000},
		);
	});

	test('utilization [N/A] with pstate [GPU requires reset] is a broken GPU', () => {
		const gpu = read(gpuFields(new Set()), {'utilization.gpu': '[N/A]', pstate: '[GPU requires reset]'});
		expect(verdictOf(gpu)).toEqual({failure: 'GPU requires reset (pstate)', use: 'failed'});
	});

	test('of several words the failure names the worst', () => {
		const gpu = read(gpuFields(new Set()), {'memory.total': '[Unknown Error]', 'fan.speed': '[GPU is lost]'});
		expect(gpu?.failure).toBe('GPU is lost (fan.speed)');
	});

	test.each(['[N/A], [GPU is lost]', '[GPU is lost], 300', '[GPU is lost], [GPU is lost]', '77, [GPU is lost]'])(
		'a process row with %s breaks its GPU',
		async (row) => {
			const gpu = read(gpuFields(new Set()), {})!;
			const table = parseProcessTable(`gpu_uuid, pid, used_gpu_memory [MiB]\n${gpu.uuid}, ${row}\n`);
			const attached = await attachProcesses([gpu], table, async () => new Map());
			expect(attached.gpus).toMatchObject([{failure: 'GPU is lost (processes)', health: [{kind: 'fell-off-the-bus'}]}]);
		},
	);

	test('a process that calls itself [GPU is lost] breaks no GPU', async () => {
		const gpu = read(gpuFields(new Set()), {})!;
		const table = parseProcessTable(`gpu_uuid, pid, used_memory, process_name\n${gpu.uuid}, 77, 300, [GPU is lost]\n`);
		const attached = await attachProcesses([gpu], table, async () => new Map());
		expect(attached.gpus[0]).toMatchObject({failure: undefined, processes: [{pid: 77}]});
	});
});

describe('NVML', () => {
	/** Which function reads which field. Those of a fan and of power fail on healthy cards. */
	const functions: Readonly<Record<string, string>> = {
		nvmlDeviceGetMemoryInfo_v2: 'memory.used',
		nvmlDeviceGetUtilizationRates: 'utilization.gpu',
		nvmlDeviceGetTemperature: 'temperature.gpu',
		nvmlDeviceGetPerformanceState: 'pstate',
		nvmlDeviceGetClockInfo: 'clocks.current.sm',
		nvmlDeviceGetUUID: 'uuid',
		nvmlDeviceGetPowerUsage: 'power.draw',
		nvmlDeviceGetPowerManagementLimit: 'power.limit',
		nvmlDeviceGetFanSpeed: 'fan.speed',
		nvmlDeviceGetName: 'name',
		nvmlDeviceGetPciInfo_v3: 'pci.bus_id',
		nvmlDeviceGetTotalEccErrors: 'ecc.errors.uncorrected.volatile.total',
		nvmlDeviceGetComputeMode: 'compute_mode',
		nvmlDeviceGetMigMode: 'mig.mode.current',
		nvmlDeviceGetCudaComputeCapability: 'compute_cap',
		nvmlDeviceGetTemperatureThreshold: 'temperature.gpu.tlimit',
		nvmlDeviceGetCurrentClocksEventReasons: 'clocks_event_reasons.active',
		nvmlDeviceGetFieldValues: 'gpu_recovery_action',
		nvmlDeviceGetRemappedRows: 'remapped_rows.failure',
		nvmlDeviceGetRetiredPagesPendingStatus: 'retired_pages.pending',
		nvmlDeviceGetComputeRunningProcesses_v3: 'processes',
	};
	const vital = new Set(Object.keys(functions).slice(0, 6));
	const fieldOf = (name: string): string => functions[name] ?? '?';

	/** A library with one idle GPU, in which one function gives back this code. */
	const libraryWith = (failing?: string, code = 0): NativeLibrary => ({
		find: (name) =>
			name in functions || ['nvmlInit_v2', 'nvmlDeviceGetCount_v2', 'nvmlDeviceGetHandleByIndex_v2'].includes(name)
				? (...given) => {
						if (name === failing) {
							return code;
						}

						const memory = given.filter((one) => one instanceof Uint8Array);
						if (name === 'nvmlDeviceGetCount_v2') {
							memory[0]![0] = 1;
						} else if (name === 'nvmlDeviceGetUUID') {
							memory[0]!.set(new TextEncoder().encode('GPU-1'));
						} else if (name.startsWith('nvmlDeviceGetMemoryInfo')) {
							new DataView(memory[0]!.buffer).setBigUint64(8, 2n ** 36n, true);
						} else if (name.startsWith('nvmlDeviceGetTemperature')) {
							memory[0]![0] = name.endsWith('Threshold') ? 90 : 30;
						} else if (name.startsWith('nvmlDeviceGetCompute') && name.includes('Processes')) {
							memory[0]!.fill(0);
						}

						return 0;
					}
				: undefined,
	});

	const scan = async (failing?: string, code?: number) => {
		const {gpus, processes} = openScanner(libraryWith(failing, code)).scan();
		const attached = await attachProcesses(gpus, processes, async () => new Map());
		return {failure: attached.gpus[0]?.failure, use: judgeUsage(attached.gpus[0], threshold).kind};
	};

	const names = Object.keys(functions);
	/** Not supported, no permission, not found, unknown function, another version, deprecated. */
	const absentCodes = [3, 4, 6, 13, 25, 26];
	const lostCodes: ReadonlyMap<number, string> = new Map([
		[15, 'GPU is lost'],
		[16, 'GPU requires reset'],
	]);

	test('a healthy GPU is idle', async () => {
		expect(await scan()).toEqual({failure: undefined, use: 'idle'});
	});

	test('the codes for a lost GPU and for a reset break the GPU in every function', async () => {
		for (const name of names) {
			for (const [code, word] of lostCodes) {
				expect(await scan(name, code), name).toEqual({failure: `${word} (${fieldOf(name)})`, use: 'failed'});
			}
		}
	});

	test('any other code breaks the GPU in a vital function alone', async () => {
		await fc.assert(
			fc.asyncProperty(
				fc.constantFrom(...names),
				fc.oneof(fc.integer({min: 1, max: 40}), fc.constant(999)),
				async (name, code) => {
					// The list of processes grows by this code, and the older form of a function stands in after some.
					fc.pre(!lostCodes.has(code) && code !== 7);
					fc.pre(name !== 'nvmlDeviceGetMemoryInfo_v2' || code === 999);
					const {failure, use} = await scan(name, code);
					const isBroken = vital.has(name) && !absentCodes.includes(code);
					expect(use === 'failed', `${name} ${code} ${failure}`).toBe(isBroken || name === 'nvmlDeviceGetUUID');
					expect(failure === undefined || failure.endsWith(` (${fieldOf(name)})`)).toBe(true);
				},
			),
			{numRuns: 2000},
		);
	});
});

describe('AMD', () => {
	const statuses = ['AMDSMI_STATUS_IO - I/O Error', 'AMDSMI_STATUS_UNKNOWN_ERROR', 'RSMI_STATUS_BUSY', 'Unknown error occured'];
	const missing = ['N/A', 'AMDSMI_STATUS_NOT_SUPPORTED - Feature not supported', 'RSMI_STATUS_NO_PERM', '12 apples'];

	/** Paths of amd-smi's answer; the name that a failure gives the vital ones. */
	const paths: ReadonlyArray<readonly [path: string, name: string | undefined]> = [
		['mem_usage.used_vram', 'memory used'],
		['mem_usage.total_vram', 'memory total'],
		['usage.gfx_activity', 'GPU use'],
		['usage.umc_activity', 'memory activity'],
		['temperature', 'temperature'],
		['clock.gfx_0.clk', 'GPU clock'],
		['clock.mem_0.clk', 'memory clock'],
		['power.socket_power', undefined],
		['fan.usage', undefined],
		['ecc.total_uncorrectable_count', undefined],
	];

	const withWord = (path: string, word: string) => {
		const metric = structuredClone(metricOf(0, 2)) as Record<string, unknown>;
		const keys = path.split('.');
		const last = keys.pop()!;
		let at = metric;
		for (const key of keys) {
			at = at[key] as Record<string, unknown>;
		}

		at[last] = word;
		return readGpus({metric: new Map([[0, metric]]), fixed: new Map(), list: new Map()})[0];
	};

	test('a status word of amd-smi breaks the GPU in a vital field alone', () => {
		for (const [path, name] of paths) {
			for (const word of statuses) {
				const gpu = withWord(path, word);
				expect(gpu?.failure, path).toBe(name === undefined ? undefined : `${word} (${name})`);
			}

			for (const word of missing) {
				expect(withWord(path, word)?.failure, `${path} ${word}`).toBeUndefined();
			}
		}
	});

	const card: Readonly<Record<string, string>> = {
		'Temperature (Sensor edge) (C)': '45.0',
		'Average Graphics Package Power (W)': '6.0',
		'GPU use (%)': '7',
		'GPU Memory Read/Write Activity (%)': '1',
		'Fan speed (%)': '31',
		'sclk clock speed:': '(500Mhz)',
		'mclk clock speed:': '(96Mhz)',
		'VRAM Total Memory (B)': '12868124672',
		'VRAM Total Used Memory (B)': '2097152',
	};

	test('an error word of rocm-smi breaks the GPU, but not in fan and power', () => {
		const failureWith = (key: string, word: string) => {
			const {metric} = readCards({card0: {...card, [key]: word}});
			return readGpus({metric, fixed: metric, list: metric})[0]?.failure;
		};

		for (const key of Object.keys(card)) {
			const isVital = !/power|fan/iv.test(key);
			for (const word of statuses) {
				expect(failureWith(key, word)?.startsWith(`${word} (`) ?? false, `${key} ${word}`).toBe(isVital);
			}

			for (const word of missing) {
				expect(failureWith(key, word), `${key} ${word}`).toBeUndefined();
			}
		}
	});
});
