import {existsSync, readdirSync, readFileSync} from 'node:fs';
import path from 'node:path';
import {fileURLToPath} from 'node:url';
import * as fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import {addDetailedHealth, askDetails, attachParts} from '../../../source/gpu/nvidia/details.js';
import {parseList} from '../../../source/gpu/nvidia/list.js';
import {parseDetails} from '../../../source/gpu/nvidia/xml.js';
import type {RunTool} from '../../../source/gpu/tool/tool.js';

const folder = fileURLToPath(new URL('../../../../shared/fixtures/nvidia/', import.meta.url));
const isHere = existsSync(folder);
if (!isHere) {
	console.warn('No recorded outputs of nvidia-smi beside this repository: the tests over them are skipped.');
}

const filesLike = (pattern: RegExp) =>
	isHere ? (readdirSync(folder, {recursive: true}) as string[]).filter((file) => pattern.test(file)).toSorted() : [];
const read = (file: string) => readFileSync(path.join(folder, file), 'utf8');

/** Two GPUs, of which one has two MIG instances. One process uses graphics, and one is hidden. */
const document = `<?xml version="1.0" ?>
<!DOCTYPE nvidia_smi_log SYSTEM "nvsmi_device_v12.dtd">
<nvidia_smi_log>
	<driver_version>580.65.06</driver_version>
	<gpu id="00000000:02:00.0">
		<uuid>GPU-1</uuid>
		<mig_mode><current_mig>Enabled</current_mig></mig_mode>
		<mig_devices>
			<mig_device><index>0</index><gpu_instance_id>1</gpu_instance_id><compute_instance_id>0</compute_instance_id>
				<fb_memory_usage><total>40448 MiB</total><used>12 MiB</used></fb_memory_usage></mig_device>
			<mig_device><index>1</index><gpu_instance_id>5</gpu_instance_id><compute_instance_id>0</compute_instance_id>
				<fb_memory_usage><total>N/A</total><used>[Unknown Error]</used></fb_memory_usage></mig_device>
		</mig_devices>
		<gpu_recovery_action>Drain and Reset</gpu_recovery_action>
		<retired_pages><pending_blacklist>Yes</pending_blacklist><pending_retirement>Yes</pending_retirement></retired_pages>
		<remapped_rows>N/A</remapped_rows>
		<temperature><gpu_temp_slow_threshold>89 C</gpu_temp_slow_threshold></temperature>
		<processes>N/A</processes>
	</gpu>
	<gpu id="00000000:04:00.0">
		<uuid>GPU-2</uuid>
		<mig_mode><current_mig>N/A</current_mig></mig_mode>
		<mig_devices>None</mig_devices>
		<gpu_recovery_action>None</gpu_recovery_action>
		<ecc_errors><unrepairable_memory>No</unrepairable_memory></ecc_errors>
		<remapped_rows><remapped_row_pending>Yes</remapped_row_pending><remapped_row_failure>No</remapped_row_failure></remapped_rows>
		<processes>
			<process_info><pid>77</pid><type>G</type><process_name>/usr/bin/X &lol; a, b</process_name><used_memory>40 MiB</used_memory></process_info>
			<process_info><pid>N/A</pid><type>C</type><used_memory>40 MiB</used_memory></process_info>
			<process_info><pid>78</pid><type>C+G</type><used_memory>N/A</used_memory></process_info>
		</processes>
	</gpu>
</nvidia_smi_log>`;

const listing = `GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-1)
  MIG 3g.40gb     Device  0: (UUID: MIG-a)
  MIG 1g.10gb+me  Device  1: (UUID: MIG-b)
Unable to determine the device handle for GPU1: 0000:04:00.0: Unknown Error
GPU 2: Tesla T4 (odd) (UUID: GPU-2)
`;

test('parseDetails returns readings that the CSV tables of nvidia-smi lack', () => {
	expect(parseDetails(`WARNING: infoROM is corrupted\n${document}`)).toEqual({
		driverVersion: '580.65.06',
		gpus: [
			{
				pciBusId: '00000000:02:00.0',
				uuid: 'GPU-1',
				isMigEnabled: true,
				migInstances: [
					{number: 0, gpuInstanceId: 1, computeInstanceId: 0, memoryUsedMiB: 12, memoryTotalMiB: 40_448},
					{number: 1, gpuInstanceId: 5, computeInstanceId: 0, unknown: {memoryUsedMiB: '[Unknown Error]'}},
				],
				recoveryAction: 'Drain and Reset',
				temperatureLimitCelsius: 89,
				hasFailedRemapping: undefined,
				hasPendingPages: true,
				processes: undefined,
			},
			{
				pciBusId: '00000000:04:00.0',
				uuid: 'GPU-2',
				isMigEnabled: undefined,
				migInstances: [],
				recoveryAction: 'None',
				temperatureLimitCelsius: undefined,
				hasFailedRemapping: false,
				hasPendingPages: undefined,
				processes: [
					{pid: 77, kind: 'graphics', memoryUsedMiB: 40},
					{pid: 78, kind: 'both', memoryUsedMiB: undefined},
				],
			},
		],
	});
});

test('attachParts assigns a process to its MIG instance, or to no instance if the process runs on two', () => {
	const on = (pid: number, part: number | string) =>
		`<process_info><gpu_instance_id>${part}</gpu_instance_id><compute_instance_id>0</compute_instance_id><pid>${pid}</pid><type>C</type><used_memory>9 MiB</used_memory></process_info>`;
	const processes = [on(77, 5), on(78, 'N/A'), on(79, 1), on(79, 5)].join('');
	const details = parseDetails(
		document.replace('<processes>N/A</processes>', () => `<processes>${processes}</processes>`),
	);
	const gpu = {index: 0, uuid: 'GPU-1', isMigEnabled: true, unknown: {}};
	const [attached] = attachParts([{...gpu, processes: [77, 78, 79, 80].map((pid) => ({pid}))}], details);
	expect(attached?.processes).toEqual([
		{pid: 77, gpuInstanceId: 5, computeInstanceId: 0},
		{pid: 78},
		{pid: 79},
		{pid: 80},
	]);
});

test('parseList returns the names of GPUs and their MIG instances', () => {
	expect(parseList(listing.replaceAll('\n', '\r\n'))).toEqual([
		{
			index: 0,
			name: 'NVIDIA H100 80GB HBM3',
			uuid: 'GPU-1',
			parts: new Map([
				[0, {profile: '3g.40gb', uuid: 'MIG-a'}],
				[1, {profile: '1g.10gb+me', uuid: 'MIG-b'}],
			]),
		},
		{index: 2, name: 'Tesla T4 (odd)', uuid: 'GPU-2', parts: new Map()},
	]);
});

test('a scan names each MIG instance of a GPU', async () => {
	const run: RunTool = async (_command, [first]) => ({
		stdout: first === '-L' ? listing : document,
		stderr: '',
		exitCode: 0,
	});
	const details = await askDetails({run, command: 'nvidia-smi', timeoutMs: 1000});
	const gpus = ['GPU-1', 'GPU-2'].map((uuid, index) => ({
		index,
		uuid,
		isMigEnabled: index === 0,
		processes: [],
		unknown: {},
	}));
	const attached = attachParts(gpus, details);
	expect(attached[0]?.migInstances).toEqual([
		{
			number: 0,
			profile: '3g.40gb',
			uuid: 'MIG-a',
			gpuInstanceId: 1,
			computeInstanceId: 0,
			memoryUsedMiB: 12,
			memoryTotalMiB: 40_448,
		},
		{
			number: 1,
			profile: '1g.10gb+me',
			uuid: 'MIG-b',
			gpuInstanceId: 5,
			computeInstanceId: 0,
			unknown: {memoryUsedMiB: '[Unknown Error]'},
		},
	]);
	expect(attached[1]).toBe(gpus[1]);
	const failing: RunTool = async () => ({stdout: document, stderr: '', failure: 'timed-out'});
	expect(await askDetails({run: failing, command: 'nvidia-smi', timeoutMs: 1000})).toBeUndefined();
});

test('parseDetails expands no XML entities and rejects endless documents', () => {
	const bomb =
		'<?xml version="1.0"?><!DOCTYPE a [<!ENTITY x "aaaaaaaaaa"><!ENTITY y "&x;&x;&x;&x;">]><nvidia_smi_log><driver_version>&y;</driver_version></nvidia_smi_log>';
	expect(parseDetails(bomb)?.driverVersion ?? '&y;').toBe('&y;');
	expect(parseDetails(`<?xml version="1.0"?>${'<a>'.repeat(100_000)}`)).toBeUndefined();
	expect(parseDetails(`<?xml version="1.0"?>${' '.repeat(9_000_000)}`)).toBeUndefined();
	expect(parseDetails('<?xml version="1.0"?><other/>')).toBeUndefined();
});

test('parseDetails and parseList accept any text', () => {
	const piece = fc.oneof(
		fc.string(),
		fc.constantFrom(
			...document.split(/(?=<)/v),
			...listing.split('\n'),
			'<?xml ?>',
			'<![CDATA[',
			']]>',
			'<!--',
			'__proto__',
			'<constructor>',
			'&#x41;',
		),
	);
	fc.assert(
		fc.property(fc.array(piece, {maxLength: 60}), (pieces) => {
			const text = pieces.join('');
			expect(() => [parseDetails(text), parseDetails(`<?xml version="1.0"?>${text}`)]).not.toThrow();
			expect(() => parseList(pieces.join('\n'))).not.toThrow();
		}),
		{numRuns: 1000},
	);
	fc.assert(
		fc.property(fc.nat(document.length), fc.nat(40), fc.string(), (at, length, text) => {
			expect(() => parseDetails(document.slice(0, at) + text + document.slice(at + length))).not.toThrow();
		}),
		{numRuns: 1000},
	);
});

describe.skipIf(!isHere)('recorded outputs of nvidia-smi', () => {
	test.each(filesLike(/\.xml$/v))('%s is parsed by parseDetails with every GPU and process', (file) => {
		const text = read(file);
		const {driverVersion, gpus = []} = parseDetails(text) ?? {};
		expect(file).toContain(driverVersion);
		expect(gpus).toHaveLength(text.match(/<gpu id=/gv)?.length ?? NaN);
		const processes = gpus.flatMap((gpu) => gpu.processes ?? []);
		expect(processes).toHaveLength(text.match(/<process_info>/gv)?.length ?? 0);
		expect(processes.every(({kind}) => kind !== undefined)).toBe(true);
		expect(gpus.flatMap((gpu) => gpu.migInstances ?? [])).toHaveLength(text.match(/<mig_device>/gv)?.length ?? 0);
		expect(gpus.every((gpu) => (gpu.temperatureLimitCelsius ?? 0) > 80 && gpu.uuid !== undefined)).toBe(true);
	});

	test.each(filesLike(/list-L/v))('%s is parsed by parseList with every GPU and MIG instance', (file) => {
		const text = read(file);
		const gpus = parseList(text);
		expect(gpus).toHaveLength(text.match(/^GPU /gmv)?.length ?? NaN);
		expect(gpus.reduce((sum, {parts}) => sum + parts.size, 0)).toBe(text.match(/^ {2}MIG /gmv)?.length ?? 0);
	});

	test.each(filesLike(/\.(?:txt|csv|tsv|xml)$/v))('%s is accepted by parseDetails and parseList', (file) => {
		expect(() => [parseDetails(read(file)), parseList(read(file))]).not.toThrow();
	});
});

test('addDetailedHealth reports failed memory repairs and a required reset', () => {
	const gpus = ['GPU-1', 'GPU-2', 'GPU-3', 'GPU-4'].map((uuid, index) => ({index, uuid, unknown: {}, processes: []}));
	const parsed = parseDetails(`<?xml version="1.0" ?><nvidia_smi_log>
		<gpu><uuid>GPU-1</uuid><remapped_rows><remapped_row_failure>Yes</remapped_row_failure></remapped_rows></gpu>
		<gpu><uuid>GPU-2</uuid><ecc_errors><unrepairable_memory>Yes</unrepairable_memory></ecc_errors></gpu>
		<gpu><uuid>GPU-4</uuid><gpu_reset_status><reset_required>Yes</reset_required></gpu_reset_status></gpu>
		<gpu><uuid>GPU-3</uuid><remapped_rows><remapped_row_pending>Yes</remapped_row_pending></remapped_rows></gpu>
	</nvidia_smi_log>`);
	expect(addDetailedHealth(gpus, parsed ?? {gpus: []}).map(({health}) => health?.map(({kind}) => kind))).toEqual([
		['ecc'],
		['ecc'],
		undefined,
		['needs-reset'],
	]);
});
