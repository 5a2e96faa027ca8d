/** Errors of amd-smi and rocm-smi in every field. The expected results are repeated here, so that a mistake in the program's table is noticed. */
import {expect, test} from 'vitest';
import {readGpus} from '../../../source/gpu/amd/gpus.js';
import {readCards} from '../../../source/gpu/amd/rocm-smi.js';
import {metricOf} from '../amd/set-up.js';

const statuses = [
	'AMDSMI_STATUS_IO - I/O Error',
	'AMDSMI_STATUS_UNKNOWN_ERROR',
	'RSMI_STATUS_BUSY',
	'Unknown error occured',
];
const missing = ['N/A', 'AMDSMI_STATUS_NOT_SUPPORTED - Feature not supported', 'RSMI_STATUS_NO_PERM', '12 apples'];

/** Paths in the output of amd-smi, with the name of each vital field in failures. */
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

test('an error that amd-smi prints in place of a value means a broken GPU only if the field is vital', () => {
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

test('an error that rocm-smi prints in place of a value means a broken GPU, except in the fields for fan and power', () => {
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
