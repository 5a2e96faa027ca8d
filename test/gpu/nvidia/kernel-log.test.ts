import {existsSync, readdirSync, readFileSync} from 'node:fs';
import path from 'node:path';
import {fileURLToPath} from 'node:url';
import * as fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import {judgeXids, parseXids, readLoggedProblems} from '../../../source/gpu/nvidia/problems/kernel-log.js';
import type {RunTool} from '../../../source/gpu/tool/tool.js';

const folder = fileURLToPath(new URL('../../../../shared/fixtures/nvidia/dmesg/', import.meta.url));
const isHere = existsSync(folder);
if (!isHere) {
	console.warn('No recorded kernel logs beside this repository: the tests over them are skipped.');
}

const line = (number: number, words: string, {at = 100, gpu = '02'} = {}) =>
	`[${String(at).padStart(6)}.000001] NVRM: Xid (PCI:0000:${gpu}:00): ${number}, pid='<unknown>', name=<unknown>, ${words}`;

const judge = (...lines: readonly string[]) => [...judgeXids(parseXids(lines.join('\n')), 200, 1000)];

test('judgeXids reports an Xid error in the kernel log with its number and text', () => {
	expect(judge(line(79, 'GPU has fallen off the bus.'), line(48, 'DBE', {gpu: '0b'}))).toEqual([
		['00000000:02:00.0', [{kind: 'fell-off-the-bus', words: 'Xid 79: GPU has fallen off the bus.'}]],
		['00000000:0B:00.0', [{kind: 'ecc', words: 'Xid 48: DBE'}]],
	]);
	expect(judge('[  1.5] NVRM: GPU 0000:02:00.0: GPU has fallen off the bus.')).toEqual([
		['00000000:02:00.0', [{kind: 'fell-off-the-bus', words: 'fallen off the bus'}]],
	]);
	expect(judge('[  1.5] NVRM: GPU 02:00.0: GPU has fallen off the bus.')).toEqual([
		['00000000:02:00.0', [{kind: 'fell-off-the-bus', words: 'fallen off the bus'}]],
	]);
	expect(judge('[  1.5] NVRM: GPU at 0000:02:00.0 has fallen off the bus.')).toEqual([
		['00000000:02:00.0', [{kind: 'fell-off-the-bus', words: 'fallen off the bus'}]],
	]);
});

test.each(['GPU-I:05', 'GPU-I:03 GPU-CI:00'])(
	'judgeXids reports an Xid error of the MIG instance %s for its GPU',
	(part) => {
		expect(
			judge(`[  1.5] NVRM: Xid (PCI:0000:02:00 ${part}): 95, pid=7194, Uncontained: LTC TAG (0x2,0x0). RST: Yes`),
		).toEqual([
			['00000000:02:00.0', [{kind: 'ecc', words: 'Xid 95: pid=7194, Uncontained: LTC TAG (0x2,0x0). RST: Yes'}]],
		]);
	},
);

test('judgeXids recognizes a GPU that fell off the bus in three log lines without an Xid number', () => {
	const logLines = `[ 1843.3] NVRM: The NVIDIA GPU 0000:b3:00.0
               NVRM: (PCI ID: 10de:26b5) installed in this system has
               NVRM: fallen off the bus and is not responding to commands.`;
	const words = 'fallen off the bus';
	expect(judge(logLines)).toEqual([['00000000:B3:00.0', [{kind: 'fell-off-the-bus', words}]]]);
	expect(judge(logLines.replaceAll(/^ {15}/gmv, '[ 1843.3] '))).toHaveLength(1);
	expect(judge(logLines.replace('fallen off the bus', 'something else'))).toEqual([]);
	expect(
		judge(logLines.split('\n', 1)[0]!, line(13, 'x'), line(13, 'x'), 'NVRM: fallen off the bus and is gone'),
	).toEqual([]);
});

test.each([
	['RST: No, D-RST: No', undefined],
	['RST: Yes, D-RST: No', 'needs-reset'],
	['RST: No, D-RST: Yes', 'needs-reset'],
])('judgeXids reports Xid 94 with "%s" as %s', (reset, kind) => {
	expect(judge(line(94, `Contained: SM (0x1). ${reset}`))[0]?.[1][0]?.kind).toBe(kind);
});

test.each([13, 31, 43, 45, 63, 92, 94])('judgeXids ignores Xid %i, which a program can cause', (number) => {
	expect(judge(line(number, 'Fatal?'))).toEqual([]);
});

test('judgeXids reports an NVLink error only if its text says "Fatal"', () => {
	expect(
		judge(line(149, 'NETIR_LINK_EVT  Fatal   XC0'), line(145, 'RLW_RXPIPE Nonfatal XC0', {gpu: '04'})),
	).toMatchObject([['00000000:02:00.0', [{kind: 'xid'}]]]);
});

test('judgeXids uses the last recovery action, and "None" clears all errors', () => {
	const ask = line(154, 'GPU recovery action changed from 0x0 (None) to 0x4 (Drain and Reset)');
	const cured = line(154, 'GPU recovery action changed from 0x4 (Drain and Reset) to 0x0 (None)');
	expect(judge(line(95, 'Uncontained'), ask)).toMatchObject([
		[
			'00000000:02:00.0',
			[{kind: 'ecc'}, {kind: 'needs-reset', words: expect.stringContaining('Drain and Reset') as string}],
		],
	]);
	expect(judge(line(95, 'Uncontained'), ask, cured)).toEqual([]);
	expect(judge(cured, line(95, 'Uncontained'))).toMatchObject([['00000000:02:00.0', [{kind: 'ecc'}]]]);
});

test.each([
	'NVRM: loading NVIDIA UNIX x86_64 Kernel Module  550.54.15  Tue Mar  5 22:23:56 UTC 2024',
	'NVRM: loading NVIDIA UNIX Open Kernel Module for x86_64  590.48.01  Release Build',
])('judgeXids ignores errors before the log line "%s"', (loaded) => {
	const start = `[   150.000001] ${loaded}`;
	expect(judge(line(79, 'GPU has fallen off the bus.'), start)).toEqual([]);
	expect(judge(line(79, 'lost'), start, line(48, 'DBE'))).toMatchObject([['00000000:02:00.0', [{kind: 'ecc'}]]]);
});

test('judgeXids reports a repeated Xid error once', () => {
	expect(judge(line(119, 'first'), line(119, 'second'))).toMatchObject([
		[expect.anything(), [{words: 'Xid 119: second'}]],
	]);
	expect([...judgeXids(parseXids(line(119, 'old', {at: 100})), 5000, 1000)]).toEqual([]);
});

describe('readLoggedProblems, if only the journal is readable', () => {
	/** Prints the entries that match `--grep`, newest first because of `-n`, as journalctl does. Entries can have several lines. */
	const journalOf =
		(...entries: readonly string[]): RunTool =>
		async (command, args) => {
			if (command === 'dmesg') {
				return {stdout: '', stderr: 'dmesg: read kernel buffer failed: Operation not permitted\n', exitCode: 1};
			}

			const pattern = new RegExp(args[args.indexOf('--grep') + 1]!, 'v');
			const found = entries.filter((entry) => pattern.test(entry)).toReversed();
			return found.length === 0
				? {stdout: '-- No entries --\n', stderr: '', exitCode: 1}
				: {stdout: `-- Journal begins at Mon 2026-01-05. --\n${found.join('\n')}\n`, stderr: '', exitCode: 0};
		};

	const read = async (run: RunTool) => {
		const problems = await readLoggedProblems({run, signal: new AbortController().signal, timeoutMs: 1000}, () => 200);
		return typeof problems === 'string' ? problems : [...problems];
	};

	const entry = (text: string) => text.replace('NVRM:', 'host kernel: NVRM:');
	const off = [['00000000:02:00.0', [{kind: 'fell-off-the-bus', words: 'fallen off the bus'}]]];

	test('ignores errors before the driver was loaded', async () => {
		const loaded = '[   150.000001] NVRM: loading NVIDIA UNIX x86_64 Kernel Module  550.54.15';
		expect(await read(journalOf(entry(line(119, 'Timeout')), entry(loaded)))).toEqual([]);
		expect(await read(journalOf(entry(loaded), entry(line(119, 'Timeout', {at: 160}))))).toHaveLength(1);
	});

	test.each([
		['[  1.5] NVRM: GPU 0000:02:00.0: GPU has fallen off the bus.'],
		['[  1.5] NVRM: GPU at 0000:02:00.0 has fallen off the bus.'],
		[
			'[  1.5] NVRM: The NVIDIA GPU 0000:02:00.0',
			'[  1.5] NVRM: (PCI ID: 10de:26b5) installed in this system has',
			'[  1.6] NVRM: fallen off the bus and is not responding to commands.',
		],
		[
			`[  1.5] NVRM: The NVIDIA GPU 0000:02:00.0
                         NVRM: (PCI ID: 10de:26b5) installed in this system has
                         NVRM: fallen off the bus and is not responding to commands.`,
		],
	])('recognizes a GPU that fell off the bus: %s', async (...logged) => {
		const other = entry('[  9.5] NVRM: GPU 0000:04:00.0: RmInitAdapter failed!');
		expect(await read(journalOf(...logged.map((text) => entry(text)), other))).toEqual(off);
	});

	test('uses the last recovery action', async () => {
		const ask = line(154, 'GPU recovery action changed from 0x0 (None) to 0x4 (Drain and Reset)', {at: 101});
		const cured = line(154, 'GPU recovery action changed from 0x4 (Drain and Reset) to 0x0 (None)', {at: 102});
		expect(await read(journalOf(line(95, 'Uncontained'), ask, cured))).toEqual([]);
	});

	test('finds no problems in a journal without an entry of the driver', async () => {
		expect(await read(journalOf(entry('[  1.5] NVRM: something else')))).toEqual([]);
	});

	test.each([
		'Hint: You are currently not seeing messages from other users and the system.',
		'No journal files were found.',
	])('says that the account may not read the log after "%s"', async (words) => {
		expect(await read(async () => ({stdout: '-- No entries --\n', stderr: `${words}\n`, exitCode: 1}))).toBe(
			'forbidden',
		);
	});
});

test('parseXids accepts any text and invents no GPU', () => {
	const pieces = fc.constantFrom(
		'NVRM: ',
		'Xid (PCI:0000:02:00): ',
		'79',
		', ',
		"pid='<unknown>', name=<unknown>, ",
		'\n',
		'[1.0] ',
		' Fatal',
		'154',
		'to 0x0',
	);
	fc.assert(
		fc.property(fc.array(fc.oneof(pieces, fc.string()), {maxLength: 30}), (parts) => {
			const text = parts.join('');
			const judged = judgeXids(parseXids(text), 10, 100);
			expect(judged.keys().every((gpu) => gpu === '00000000:02:00.0' || text.includes('NVRM:'))).toBe(true);
		}),
		{numRuns: 1000},
	);
});

describe.skipIf(!isHere)('recorded kernel logs', () => {
	test.each(isHere ? readdirSync(folder) : [])('%s is parsed with every Xid', (file) => {
		const text = readFileSync(path.join(folder, file), 'utf8');
		const xids = parseXids(text);
		expect(xids).toHaveLength(text.match(/NVRM: (?:Xid|GPU at)/gv)?.length ?? NaN);
		expect(xids.some(({words}) => words.includes('pid='))).toBe(false);
		const judged = judgeXids(xids, 1e9, 1e9);
		expect(judged.has('00000000:38:00.0')).toBe(false);
		expect(judged.get('00000000:03:00.0')).toMatchObject([{kind: 'fell-off-the-bus'}]);
		expect(judged.get('00000000:3B:00.0')?.map(({words}) => words.slice(0, 7))).toEqual(['Xid 120', 'Xid 119']);
	});
});
