import * as fc from 'fast-check';
import {expect, test} from 'vitest';
import {explainFailure} from '../../../source/gpu/nvidia/problems/failures.js';
import {gpuFields, processFields} from '../../../source/gpu/nvidia/fields.js';
import {parseGpuTable} from '../../../source/gpu/nvidia/gpus.js';
import {attachProcesses, parseProcessTable} from '../../../source/gpu/nvidia/processes.js';

const markers = ['[N/A]', '[Not Supported]', '[Unknown Error]', '[GPU requires reset]', 'N/A', 'ERR!', '', '[]', '['];

const cell = fc.oneof(
	fc.nat(300).map(String),
	fc.double({min: 0, max: 1e5, noNaN: true}).map((value) => value.toFixed(2)),
	fc.constantFrom(...markers),
	fc.constantFrom(
		'00000000:04:00.0',
		'GPU-1',
		'GPU-2',
		'1e9',
		'-4',
		'0x10',
		'12 MiB',
		'Enabled',
		'0x0000000000000044',
		'-3',
		'Drain and Reset',
		'9.0',
		'9 %',
		'1,5',
		'٣',
		'1 2',
		'Infinity',
	),
	fc.string({maxLength: 12}),
);

const sentence = fc.oneof(
	fc.string(),
	fc.constantFrom(
		'Unable to determine the device handle for GPU0000:02:00.0: Unknown Error',
		'Unable to determine the device handle for GPU3: 0000:04:00.0: Unknown Error',
		'Unable to determine the device handle for GPU',
		'WARNING: infoROM is corrupted at gpu 0000:B3:00.0',
	),
);

/** Text that resembles a table: a header of some columns, rows of about the right length, and other lines. */
const nearTable = (fields: readonly string[]) =>
	fc
		.record({
			header: fc.shuffledSubarray([...fields, 'odd [x]', 'used_gpu_memory [MiB]'], {minLength: 1}),
			lines: fc.array(
				fc.oneof(
					fc.array(cell, {minLength: 1, maxLength: fields.length + 3}).map((cells) => cells.join(', ')),
					sentence,
				),
				{
					maxLength: 12,
				},
			),
			end: fc.constantFrom('\n', '\r\n'),
		})
		.map(({header, lines, end}) => [header.join(', '), ...lines].join(end));

const numbersIn = (text: string) => new Set((text.match(/\d+(?:\.\d+)?/gv) ?? []).map(Number));

const isSurrogateFree = (value: unknown): boolean => JSON.stringify(value).isWellFormed();

test('parseGpuTable accepts any text and invents no reading', () => {
	fc.assert(
		fc.property(
			fc.oneof(nearTable([...gpuFields(new Set()), ...gpuFields(new Set(), 400)]), fc.string()),
			sentence,
			(stdout, stderr) => {
				const {gpus = []} = parseGpuTable(stdout, stderr) ?? {};
				const numbers = numbersIn(stdout);
				const indices = gpus.map(({index}) => index);
				expect(indices).toEqual([...new Set(indices)].toSorted((a, b) => a - b));
				for (const {place, isUnread, isMigPending, ...reading} of gpus) {
					// Only an engine such as Slurm sets these fields.
					expect([place, isUnread]).toEqual([undefined, undefined]);
					const {index, failure, unknown, health, throttleReasons, isMigEnabled, migInstances, ...plain} = reading;
					expect(isMigPending === undefined || isMigEnabled !== undefined).toBe(true);
					expect(numbers.has(index) || failure !== undefined).toBe(true);
					expect(isMigEnabled === undefined || /enabled|disabled/iv.test(stdout)).toBe(true);
					expect(migInstances).toBeUndefined();
					expect(throttleReasons === undefined || stdout.includes('0x')).toBe(true);
					expect(health === undefined || health.length > 0).toBe(true);
					const {temperatureCelsius = NaN, temperatureLimitCelsius = NaN} = plain;
					// The limit is reported as a distance from the current temperature.
					const margin = temperatureLimitCelsius - temperatureCelsius;
					expect(Number.isNaN(margin) || numbers.has(Math.abs(margin))).toBe(true);
					const readings = {...plain, isMigEnabled, throttleReasons, temperatureLimitCelsius: undefined};
					for (const [field, value] of Object.entries(plain).filter(([name]) => name !== 'temperatureLimitCelsius')) {
						const isReported =
							typeof value === 'number' ? numbers.has(value) : field === 'pciBusId' || stdout.includes(value ?? '');
						expect(isReported, `${field} ${value}`).toBe(true);
					}

					for (const [field, marker] of Object.entries(unknown)) {
						expect(readings).toHaveProperty(field, undefined);
						// A total of 0 MiB means no reading.
						expect(stdout.includes(marker) || (field.startsWith('memory') && numbers.has(0))).toBe(true);
					}
				}
			},
		),
		{numRuns: 2000},
	);
});

test('parseProcessTable accepts any text and invents no process', async () => {
	const gpus = ['GPU-1', 'GPU-2', undefined].map((uuid, index) => ({index, uuid, unknown: {}}));
	await fc.assert(
		fc.asyncProperty(fc.oneof(nearTable(processFields), fc.string()), async (stdout) => {
			const table = parseProcessTable(stdout);
			const attached = await attachProcesses(gpus, table, async () => new Map());
			const numbers = numbersIn(stdout);
			for (const {processes} of attached.gpus) {
				expect(table !== undefined || processes === undefined).toBe(true);
				const pids = (processes ?? []).map(({pid}) => pid);
				expect(new Set(pids).size).toBe(pids.length);
				expect(pids.every((pid) => numbers.has(pid))).toBe(true);
			}

			for (const {memoryUsedMiB} of [...(table?.byGpu ?? [])].flatMap(([, rows]) => rows)) {
				expect(memoryUsedMiB === undefined || numbers.has(memoryUsedMiB)).toBe(true);
			}
		}),
		{numRuns: 2000},
	);
});

test('explainFailure explains every failure in one line', () => {
	fc.assert(
		fc.property(
			fc.record({
				stdout: sentence,
				stderr: fc.string(),
				exitCode: fc.option(fc.nat(255), {nil: undefined}),
				signal: fc.option(fc.constantFrom('SIGKILL', 'SIGSEGV'), {nil: undefined}),
				failure: fc.constantFrom(
					undefined,
					'not-found' as const,
					'not-executable' as const,
					'timed-out' as const,
					'too-much-output' as const,
					'aborted' as const,
					'failed' as const,
				),
			}),
			(outcome) => {
				const explained = explainFailure(outcome, 'nvidia-smi', 10_000);
				expect(explained.message).toMatch(/^\S.*\.$/v);
				expect(explained.message).not.toContain('undefined');
				expect(isSurrogateFree(explained)).toBe(true);
			},
		),
	);
});
