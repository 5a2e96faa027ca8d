/**
Every word that nvidia-smi can print in place of a value, in every field. The expected results are repeated here, so that a mistake in the
program's table is noticed.
*/
import * as fc from 'fast-check';
import {expect, test} from 'vitest';
import {gpuFields} from '../../../source/gpu/nvidia/fields.js';
import {parseGpuTable} from '../../../source/gpu/nvidia/gpus.js';
import {attachProcesses, parseProcessTable} from '../../../source/gpu/nvidia/processes.js';
import {errorWords, harmlessWords, lost, verdictOf} from './_words.js';

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

test('a row of nvidia-smi without errors means an idle GPU, whichever fields were queried', () => {
	for (const fields of asked) {
		expect(fields).toContain('pstate');
		expect(verdictOf(read(fields, {}))).toEqual({failure: undefined, use: 'idle'});
	}
});

test('a lost GPU or a required reset in any field of nvidia-smi means a broken GPU', () => {
	fc.assert(
		fc.property(fieldsAndField, fc.constantFrom(...lost), ([fields, field], word) => {
			const gpu = read(fields, {[field]: `[${word}]`});
			expect(verdictOf(gpu)).toEqual({failure: `${word} (${field})`, use: 'failed'});
			expect(gpu?.health).toMatchObject([{kind: word === 'GPU is lost' ? 'fell-off-the-bus' : 'needs-reset'}]);
		}),
		{numRuns: 500},
	);
});

test('an error that nvidia-smi prints in place of a value means a broken GPU only if the field is vital', () => {
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

test('a missing or damaged value of nvidia-smi does not mean a broken GPU', () => {
	fc.assert(
		fc.property(fieldsAndField, fc.constantFrom(...harmlessWords), ([fields, field], word) => {
			const {failure, use} = verdictOf(read(fields, {[field]: word}));
			expect(failure).toBeUndefined();
			// A GPU whose memory is unknown is not free. [N/A] means that the GPU has no memory of its own.
			expect(use === 'idle' || field === 'memory.used').toBe(true);
		}),
		{numRuns: 2000},
	);
});

test('[GPU requires reset] in the pstate field of nvidia-smi means a broken GPU', () => {
	const gpu = read(gpuFields(new Set()), {'utilization.gpu': '[N/A]', pstate: '[GPU requires reset]'});
	expect(verdictOf(gpu)).toEqual({failure: 'GPU requires reset (pstate)', use: 'failed'});
});

test('the failure of a GPU names the most serious of several errors in its row', () => {
	const gpu = read(gpuFields(new Set()), {'memory.total': '[Unknown Error]', 'fan.speed': '[GPU is lost]'});
	expect(gpu?.failure).toBe('GPU is lost (fan.speed)');
});

test.each(['[N/A], [GPU is lost]', '[GPU is lost], 300', '[GPU is lost], [GPU is lost]', '77, [GPU is lost]'])(
	'the process row "%s" of nvidia-smi means a broken GPU',
	async (row) => {
		const gpu = read(gpuFields(new Set()), {})!;
		const table = parseProcessTable(`gpu_uuid, pid, used_gpu_memory [MiB]\n${gpu.uuid}, ${row}\n`);
		const attached = await attachProcesses([gpu], table, async () => new Map());
		expect(attached.gpus).toMatchObject([{failure: 'GPU is lost (processes)', health: [{kind: 'fell-off-the-bus'}]}]);
	},
);

test('a process named "[GPU is lost]" does not mean a broken GPU', async () => {
	const gpu = read(gpuFields(new Set()), {})!;
	const table = parseProcessTable(`gpu_uuid, pid, used_memory, process_name\n${gpu.uuid}, 77, 300, [GPU is lost]\n`);
	const attached = await attachProcesses([gpu], table, async () => new Map());
	expect(attached.gpus[0]).toMatchObject({failure: undefined, processes: [{pid: 77}]});
});
