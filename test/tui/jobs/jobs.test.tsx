/** The panel of detached jobs, and its keys. */
import {afterEach, expect, test} from 'vitest';
import type {JobRow} from '../../../source/core/rules/jobs/rows.js';
import {CanhazgpuError} from '../../../source/errors.js';
import type {LiveOutputPage, MonitorPorts} from '../../../source/tui/ports.js';
import type {Size} from '../../../source/tui/state/state.js';
import {endSession, frameOf, keys, startMonitor, stateOf, type Session, type Step} from '../_harness.js';
import {createScene} from '../_world.js';
import {rowsOf} from './_jobs.js';

let session: Session | undefined;

afterEach(async () => {
	await endSession(session);
	session = undefined;
});

const arrived: Step = {kind: 'jobs-arrived', jobs: {rows: rowsOf()}};

const frame = async (size: Size, steps: readonly Step[]): Promise<string> =>
	`\n${frameOf(await stateOf(await createScene(), size, {}, ['focus-jobs', ...steps]))}\n`;

for (const [columns, rows] of [
	[60, 15],
	[80, 24],
	[120, 32],
] as const) {
	test(`top draws the jobs at ${columns}x${rows}`, async () => {
		await expect(await frame({columns, rows}, [arrived, 'line-down', 'toggle-tag'])).toMatchFileSnapshot(
			`frames/${columns}x${rows}/jobs.txt`,
		);
	});
}

test('the jobs panel explains why it is empty', async () => {
	const size = {columns: 120, rows: 32};
	expect(await frame(size, [])).toContain('reading the jobs');
	expect(await frame(size, [{kind: 'jobs-arrived', jobs: {rows: []}}])).toContain(
		'to submit one: canhazgpu run --detach',
	);
	expect(await frame(size, [{kind: 'jobs-arrived', jobs: {rows: [], problem: 'the store is away'}}])).toContain(
		'The jobs cannot be read: the store is away',
	);
	expect(await frame(size, [arrived, 'open-filter', {kind: 'typed', text: 'none'}])).toContain('No job matches');
});

test('a filter in the jobs panel can compare the state, the user and the number of GPUs', async () => {
	const filtered = async (text: string): Promise<readonly string[]> =>
		(await frame({columns: 120, rows: 32}, [arrived, 'open-filter', {kind: 'typed', text}, 'keep-filter']))
			.matchAll(/^│[ >][ *](?<id>\d) /gmv)
			.map(({groups}) => groups!['id']!)
			.toArray();
	expect(await filtered('')).toEqual(['3', '4', '5', '6', '2', '1']);
	expect(await filtered('state:failed')).toEqual(['2']);
	expect(await filtered('user:bob')).toEqual(['3']);
	expect(await filtered('gpus>1')).toEqual(['3', '5']);
});

test('the line of the filter counts jobs in the jobs panel and processes in the process panel', async () => {
	const typing = (text: string): readonly Step[] => ['open-filter', {kind: 'typed', text}];
	const size = {columns: 120, rows: 32};
	expect(await frame(size, [arrived, ...typing('user:bob')])).toMatch(/ user:bob\S +1 of 6 jobs/v);
	expect(await frame(size, ['focus-processes', ...typing('none')])).toMatch(/ none\S +0 of \d+ processes/v);
});

test('Tab skips the jobs panel, which the key 8 shows', async () => {
	session = startMonitor(await createScene(), {size: {columns: 120, rows: 32}});
	await session.shows(/> 0 +Mine/v);
	await session.press(keys.shiftTab);
	expect(session.store.getState().panels.focus).toBe('processes');
	await session.press('8');
	await session.shows('8:Jobs');
	await session.press(keys.tab);
	expect(session.store.getState().panels.focus).toBe('gpus');
});

type Opened = {
	readonly lines: readonly string[];
	readonly reads: () => number;
	show: (page: LiveOutputPage) => void;
	rows: readonly JobRow[];
	problem: string | undefined;
	/** Answers the commands. */
	answer: (line: string) => Promise<readonly string[]>;
};

async function openJobs(): Promise<Opened> {
	const lines: string[] = [];
	let reads = 0;
	const opened: Opened = {
		lines,
		reads: () => reads,
		show: () => undefined,
		rows: rowsOf(),
		problem: undefined,
		answer: async (line) => [`did ${line}`],
	};
	const ports: MonitorPorts = {
		jobs: {
			async read() {
				reads++;
				if (opened.problem !== undefined) {
					throw new CanhazgpuError('failed', opened.problem);
				}

				return opened.rows;
			},
		},
		commandLine: {
			async run(line) {
				lines.push(line);
				return opened.answer(line);
			},
			liveOutputOf: (line) => ({
				begin(show) {
					lines.push(line);
					opened.show = show;
					return () => {
						lines.push(`${line} closed`);
					};
				},
			}),
			inShell: (line) => `canhazgpu ${line}`,
			complete: async () => ({start: 0, candidates: []}),
		},
	};
	session = startMonitor(await createScene(), {size: {columns: 120, rows: 32}, ports});
	await session.shows(/> 0 +Mine/v);
	expect(reads).toBe(0);
	await session.press('J');
	await session.shows(/> 3 +running/v);
	return opened;
}

test("the key x cancels the user's unfinished jobs only after the key y confirms it", async () => {
	const {lines} = await openJobs();
	await session!.press('x');
	await session!.shows('Job 3 belongs to bob: only its owner can cancel it');
	await session!.press('j', 'x');
	await session!.shows('Cancel job 4?');
	await session!.shows('A running command gets SIGTERM, and after 30 seconds SIGKILL.');
	await session!.shows('$ canhazgpu cancel 4');
	await session!.press('n', 'x', 'y');
	await session!.shows('OK did cancel 4');
	await session!.press(keys.end, 'x');
	await session!.shows('Job 1 has already ended');
	await session!.press(keys.home, ' ', ' ', ' ', 'x');
	await session!.shows('Cancel jobs 4, 5?');
	await session!.press('y');
	await session!.shows('OK did cancel 4 5');
	expect(lines).toEqual(['cancel 4', 'cancel 4 5']);
});

test('the cancel dialog closes at once, and the monitor later reports whether the job has ended', async () => {
	const opened = await openJobs();
	const late = Promise.withResolvers<readonly string[]>();
	opened.answer = async () => late.promise;
	await session!.press('j', 'x', 'y');
	await session!.shows('OK asked job 4 to end');
	expect(session!.store.getState().dialog).toBeUndefined();
	late.reject(new CanhazgpuError('failed', 'Job 4 was asked to end, but is still running', {hint: 'See what it does'}));
	await session!.shows('Job 4 was asked to end, but is still running. See what it does');
	opened.answer = async () => {
		throw new CanhazgpuError('not-owner', 'Job 4 belongs to another account');
	};

	await session!.press('x', 'y');
	await session!.shows('Job 4 belongs to another account');
});

test("the key R starts the user's ended jobs again only after the key y confirms it", async () => {
	const {lines} = await openJobs();
	await session!.press('R');
	await session!.shows('Job 3 belongs to bob: only its owner can start it again');
	await session!.press('j', 'R');
	await session!.shows('Job 4 has not ended: x cancels it');
	await session!.press(keys.end, 'R');
	await session!.shows('Start job 1 again?');
	await session!.press('y');
	await session!.shows('OK did retry 1');
	expect(lines).toEqual(['retry 1']);
});

test("the key l follows the output of the user's job until the user scrolls back", async () => {
	const opened = await openJobs();
	await session!.press('l');
	await session!.shows('Job 3 belongs to bob: only its owner can read its output');
	await session!.press('j', 'l');
	const linesTo = (count: number) => Array.from({length: count}, (_, index) => `step ${index + 1}.`);
	opened.show({lines: linesTo(100), isTail: true});
	await session!.shows('step 100.');
	opened.show({lines: linesTo(120), isTail: true});
	await session!.shows('step 120.');
	await session!.press(keys.pageUp);
	opened.show({lines: linesTo(140), isTail: true});
	await session!.shows('step 90.');
	expect(session!.screen()).not.toContain('step 130.');
	await session!.press(keys.end);
	opened.show({lines: linesTo(150), isTail: true});
	await session!.shows('step 150.');
	const {columns, rows} = session!.store.getState().size;
	session!.store.dispatch({kind: 'resized', size: {columns, rows: rows - 4}});
	opened.show({lines: linesTo(160), isTail: true});
	await session!.shows('step 160.');
	await session!.press(keys.escape);
	await session!.shows('8:Jobs');
	expect(opened.lines).toEqual(['logs 4', 'logs 4 closed']);
});

test('the jobs are read again after each read of the pool, but only while their panel is shown', async () => {
	const opened = await openJobs();
	opened.rows = rowsOf().filter(({id}) => id !== '3');
	await session!.press(keys.controlR);
	await session!.shows(/> 4 +running/v);
	opened.problem = 'the store is away';
	await session!.press(keys.controlR);
	await session!.shows(/4 +running/v);
	await expect.poll(() => session!.store.getState().seenJobs?.problem).toBe('the store is away');
	const before = opened.reads();
	await session!.press('1', keys.controlR);
	await session!.shows(/> 0 +Mine/v);
	expect(opened.reads()).toBe(before);
});
