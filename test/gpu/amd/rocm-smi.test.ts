import {expect, test} from 'vitest';
import {json, setUp} from './set-up.js';

const card = (used: number) => ({
	'Card Series': 'Radeon RX 6700 XT',
	'Unique ID': '0x5d',
	'PCI Bus': '0000:07:00.0',
	'Temperature (Sensor edge) (C)': '45.0',
	'Average Graphics Package Power (W)': '6.0',
	'Max Graphics Package Power (W)': '211.0',
	'GPU use (%)': '7',
	'GPU Memory Read/Write Activity (%)': 'N/A',
	'Fan speed (%)': '31',
	'sclk clock speed:': '(500Mhz)',
	'VRAM Total Memory (B)': '12868124672',
	'VRAM Total Used Memory (B)': String(used * 2 ** 20),
});

const cards = json({card0: card(1500), card1: card(20), system: {'Driver version': '6.3.6'}});
const pids = json({
	system: {PID4194311: 'python3, 1, 1073741824, 0, 0', PID4194312: 'worker, a, 2, 5, unknown, unknown'},
});
const places = {stdout: 'PID 4194311 is using 1 DRM device(s):\n0 \nPID 4194312 is using 2 DRM device(s):\n0 1 \n'};

const observe = async (answers: Record<string, {stdout?: string; exitCode?: number}>) => {
	const {provider} = await setUp({oldAnswers: {'--showproductname': cards, ...answers}});
	return provider.observe();
};

test('the AMD provider uses rocm-smi if amd-smi is not installed', async () => {
	const seen = await observe({'--showpids': pids, '--showpidgpus': places});
	expect(seen).toMatchObject({provider: 'amd', driverVersion: '6.3.6', warnings: []});
	expect(seen.gpus[0]).toMatchObject({
		index: 0,
		uuid: '0x5d',
		pciBusId: '00000000:07:00.0',
		name: 'Radeon RX 6700 XT',
		memoryUsedMiB: 1500,
		memoryTotalMiB: 12_272,
		utilizationPercent: 7,
		temperatureCelsius: 45,
		powerWatts: 6,
		powerLimitWatts: 211,
		fanPercent: 31,
		smClockMHz: 500,
		unknown: {memoryUtilizationPercent: 'N/A'},
	});
	expect(
		seen.gpus.map(({processes}) => processes?.map(({pid, name, memoryUsedMiB}) => [pid, name, memoryUsedMiB])),
	).toEqual([
		[
			[4_194_311, 'python3', 1024],
			[4_194_312, 'worker,', undefined],
		],
		[[4_194_312, 'worker,', undefined]],
	]);
});

test('rocm-smi cards 1 and 2 become GPUs 0 and 1 if card 0 belongs to another vendor', async () => {
	const {gpus} = await observe({
		'--showproductname': json({card1: {...card(310), 'PCI Bus': '0000:03:00.0'}, card2: card(18)}),
	});
	expect(gpus).toMatchObject([
		{index: 0, pciBusId: '00000000:03:00.0', memoryUsedMiB: 310},
		{index: 1, memoryUsedMiB: 18},
	]);
});

test('readings from rocm-smi include the system memory that an integrated GPU uses', async () => {
	const shared = {
		...card(5),
		'VRAM Total Memory (B)': String(512 * 2 ** 20),
		'GTT Total Memory (B)': String(32_768 * 2 ** 20),
		'GTT Total Used Memory (B)': String(24_666 * 2 ** 20),
	};
	expect((await observe({'--showproductname': json({card0: shared})})).gpus).toMatchObject([
		{memoryUsedMiB: 24_671, memoryTotalMiB: 33_280},
	]);
});

test('the model name is used if rocm-smi prints only a placeholder for the series', async () => {
	const {gpus} = await observe({
		'--showproductname': json({card0: {...card(5), 'Card Series': 'N/A', 'Card Model': 'N/A', 'Card SKU': 'R9700'}}),
	});
	expect(gpus).toMatchObject([{name: 'R9700'}]);
});

test('the processes of all GPUs are unknown if rocm-smi does not say which GPU a process uses', async () => {
	const {gpus} = await observe({'--showpids': pids, '--showpidgpus': {exitCode: 1}});
	expect(gpus).toMatchObject([
		{processes: undefined, unknown: {processes: 'a process whose GPU is unknown'}},
		{processes: undefined},
	]);
});

test('output of rocm-smi without process data means that there are no processes', async () => {
	const {gpus} = await observe({'--showpids': {stdout: 'WARNING: No JSON data to report\n'}, '--showpidgpus': {}});
	expect(gpus).toMatchObject([{processes: []}, {processes: []}]);
});

test('the processes are unknown if the process query of rocm-smi fails', async () => {
	const {gpus, warnings} = await observe({'--showpids': {stdout: 'Traceback\n', exitCode: 1}, '--showpidgpus': {}});
	expect(gpus).toMatchObject([{processes: undefined}, {processes: undefined}]);
	expect(warnings).toEqual([expect.stringContaining('rocm-smi exited with 1.')]);
});
