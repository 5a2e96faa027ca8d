import {Redis} from 'ioredis';
import {afterAll, beforeAll, expect, test} from 'vitest';
import {hourOf, loadName} from '../../../source/core/rules/pool/load-minutes.js';
import {account, createRedisBox, type Box} from '../../_helpers/program/cli.js';
import {startRedis, type RedisServer} from '../../_helpers/store/redis-server.js';
import {slowTest} from '../../_helpers/slow.js';

let redis: RedisServer;
let box: Box;

const hoursAgo = (hours: number): number => Math.floor(Date.now() / 1000 - hours * 3600);

/** Returns the day at that time. The program runs in UTC here. */
const day = (hours: number): string => new Date(hoursAgo(hours) * 1000).toISOString().slice(0, 10);

/** Returns a record of the Go program. */
const usage = (user: string, gpu: number, from: number, to: number, type = 'run') =>
	JSON.stringify({
		user,
		gpu_id: gpu,
		start_time: new Date(hoursAgo(from) * 1000).toISOString(),
		end_time: new Date(hoursAgo(to) * 1000).toISOString(),
		duration_seconds: (from - to) * 3600,
		reservation_type: type,
	});

beforeAll(async () => {
	redis = await startRedis();
	box = await createRedisBox(redis.port, 4);
	const client = new Redis(redis.port);
	await client.zadd('canhazgpu:usage_history_sorted', hoursAgo(2), usage('=cmd()', 0, 5, 2));
	await client.zadd('canhazgpu:usage_history_sorted', hoursAgo(10), usage('bob', 1, 11, 10, 'manual'));
	await client.zadd('canhazgpu:usage_history_sorted', hoursAgo(30), usage('old', 1, 40, 30));
	await client.zadd('canhazgpu:usage_history_sorted', hoursAgo(3), 'garbage');
	client.disconnect();
});

afterAll(async () => {
	box.remove();
	await redis.stop();
});

test('report prints a table, JSON with the keys of the Go canhazgpu, or CSV that is safe in spreadsheets', async () => {
	expect((await box.run('report --days 1')).stdout).toBe(
		[
			' USER   │ GPU HOURS │ SHARE  │ RUN │ MANUAL',
			'────────┼───────────┼────────┼─────┼────────',
			' =cmd() │      3.00 │  75.0% │   1 │      0',
			' bob    │      1.00 │  25.0% │   0 │      1',
			'',
			'4.00 GPU hours, 2 reservations by 2 users in the last 1 day',
			'',
		].join('\n'),
	);
	const daysBefore = [day(24), day(0)];
	const json = JSON.parse((await box.run('report --days 1 --json')).stdout) as Readonly<Record<string, unknown>>;
	const daysAfter = [day(24), day(0)];
	expect(json).toMatchObject({
		by: 'user',
		users: [
			{name: '=cmd()', gpu_hours: 3, percentage: 75, run_count: 1, manual_count: 0},
			{name: 'bob', gpu_hours: 1, percentage: 25, run_count: 0, manual_count: 1},
		],
		total_gpu_hours: 4,
		total_reservations: 2,
		unique_users: 2,
		days: 1,
		since: expect.stringMatching(/^\d{4}-\d\d-\d\dT/v) as unknown,
		until: expect.stringMatching(/^\d{4}-\d\d-\d\dT/v) as unknown,
	});
	// The command can run just before or just after midnight.
	expect([daysBefore, daysAfter]).toContainEqual([json['start_date'], json['end_date']]);
	expect((await box.run('report --days 1 --format csv')).stdout).toBe(
		"user,gpu_hours,percentage,run_count,manual_count\n'=cmd(),3.0000,75.0,1,0\nbob,1.0000,25.0,0,1\n",
	);
});

slowTest('report --by gpu and report --user count current reservations', async () => {
	await box.run('reserve -G 3 --user team');
	const byGpu = JSON.parse((await box.run('report --by gpu --json')).stdout) as {gpus: ReadonlyArray<{name: string}>};
	expect(byGpu.gpus.map(({name}) => name).toSorted()).toEqual(['GPU 0', 'GPU 1', 'GPU 3']);
	expect(byGpu).not.toHaveProperty('users');
	const ofTeam = JSON.parse((await box.run('report --user team --json')).stdout) as {users: readonly unknown[]};
	expect(ofTeam.users).toMatchObject([{name: 'team', manual_count: 1}]);
	const byDay = (await box.run('report --by day --days 3')).stdout;
	expect(byDay).toMatch(/ \d{4}-\d{2}-\d{2} /v);
	await box.run('release --user team');
});

slowTest('report --by model groups jobs by the AI model in their command line, or under "unknown"', async () => {
	await box.run(['run', '--', 'true', '--model', 'meta-llama/Llama-3-70B', '--port=1']);
	await box.run(['run', '--', 'sleep', '0.01']);
	const {models} = JSON.parse((await box.run('report --by model --days 1 --json')).stdout) as {
		models: ReadonlyArray<{name: string; run_count: number}>;
	};
	expect(models).toContainEqual(expect.objectContaining({name: 'meta-llama/Llama-3-70B', run_count: 1}));
	expect(models).toContainEqual(expect.objectContaining({name: 'unknown', run_count: 2}));
});

test.each([
	['report --days 0', '--days must be a whole number from 1 to 3650, not "0"'],
	['report --days 3651', '--days must be a whole number from 1 to 3650, not "3651"'],
	['report --days 3 --since 1d', 'Give --days or --since, not both'],
	[
		'report --since yesterday',
		'--since: "yesterday" is not a time\nWrite how long ago, such as 7d, or a time such as 2026-05-01',
	],
	['report --since 2026-02-31', '--since: "2026-02-31" is not a time'],
	['report --since 2999-01-01', '--since: "2999-01-01" is in the future'],
	['report --by moon', '--by must be one of user, gpu, day, model, not "moon"'],
	['report --format pdf', '--format must be one of table, csv, not "pdf"'],
])('%s is refused: %s', async (typed, error) => {
	const ran = await box.run(typed);
	expect(ran).toMatchObject({exitCode: 2, stdout: ''});
	expect(ran.stderr).toContain(`Error: ${error}`);
});

slowTest('report accepts --days 365 and --since with a duration or a date', async () => {
	const report = async (words: string) =>
		JSON.parse((await box.run(`report --json ${words}`)).stdout) as Readonly<Record<string, unknown>>;
	const firstDayBefore = day(365 * 24);
	const {days, start_date: firstDay} = await report('--days 365');
	expect(days).toBe(365);
	expect([firstDayBefore, day(365 * 24)]).toContain(firstDay);
	expect(await report('--since 6h --user =cmd()')).toMatchObject({days: 0.25, total_gpu_hours: 3});
	expect(await report('--since 4h --user =cmd()')).toMatchObject({total_gpu_hours: expect.closeTo(2, 1) as unknown});
	const since = new Date((hoursAgo(4) + 60) * 1000).toISOString().slice(0, 16);
	const {total_gpu_hours: hours} = await report(`--since ${since} --user =cmd()`);
	expect(hours).toBeGreaterThan(1.9);
	expect(hours).toBeLessThan(2.02);
	expect((await box.run(`report --since ${since} --user nobody`)).stdout).toBe(
		`No GPUs were reserved by "nobody" since ${since}\n`,
	);
	expect((await box.run('report --since 6h --user nobody')).stdout).toBe(
		'No GPUs were reserved by "nobody" in the last 6h\n',
	);
});

slowTest('report --json does not round GPU hours', async () => {
	await box.run(['run', '--', 'sleep', '1.2']);
	const {users} = JSON.parse((await box.run(`report --days 1 --json --user ${account}`)).stdout) as {
		users: ReadonlyArray<{gpu_hours: number}>;
	};
	// The use was a few seconds, which two decimals would round to zero.
	expect(users[0]!.gpu_hours).toBeGreaterThan(0.9 / 3600);
	expect(users[0]!.gpu_hours).toBeLessThan(0.005);
});

test('report --by day --json lists the days under "daily"', async () => {
	const {daily, days} = JSON.parse((await box.run('report --by day --json --days 2')).stdout) as {
		daily: ReadonlyArray<{name: string}>;
		days: number;
	};
	expect(days).toBe(2);
	expect(daily.map(({name}) => name)).toContain(day(3));
});

slowTest('report prints that nothing was used if no record matches', async () => {
	expect((await box.run('report --user nobody')).stdout).toBe(
		'No GPUs were reserved by "nobody" in the last 30 days\n',
	);
});

slowTest('report --used also shows the time for which no use was recorded', async () => {
	const client = new Redis(redis.port);
	const lastMinute = Math.floor(Date.now() / 60_000) - 1;
	const scan = (await box.run('status --json')).stdout;
	const [first] = JSON.parse(scan) as ReadonlyArray<{uuid?: string}>;
	const name = loadName({index: 0, uuid: first?.uuid});
	const minutes = Array.from({length: 5 * 60}, (_, place) => lastMinute - 5 * 60 + place);
	for (const [hour, some] of Map.groupBy(minutes, (minute) => hourOf(minute))) {
		// Half of the time of `=cmd()` has records: busy at 50 %, then idle.
		const lines = some
			.filter((minute) => minute >= lastMinute - 210)
			.map((minute) => `${minute} 9 ${name}${minute < lastMinute - 165 ? '1e' : '00'}--\n`);
		await client.set(`canhazgpu:load:${hour}`, lines.join(''));
	}

	client.disconnect();
	const table = (await box.run('report --used --days 1')).stdout.split('\n');
	// The account of the tests is listed too.
	const width = Math.max('=cmd()'.length, account.length);
	expect(table.slice(0, 2)).toEqual([
		` ${'USER'.padEnd(width)} │ RESERVED │ MEAN USE │ IDLE    │ KNOWN`,
		`${'─'.repeat(width + 2)}┼──────────┼──────────┼─────────┼───────`,
	]);
	expect(table[2]).toMatch(/^ =cmd\(\) +│ +3\.00 │ +\d\d% │ +0\.\d\d │ +5\d%$/v);
	expect(table[3]).toMatch(/^ bob +│ +1\.00 │ +- │ - +│ +0%$/v);
	expect(table.join('\n')).toMatch(
		/GPU hours were reserved in the last 1 day\. The use of 1\.5\d of them is known: \d\d% busy, 0\.\d\d hours idle\nThe GPUs were not monitored for 20\.\d of 24\.0 hours: \d{4}-.* to .*\n$/v,
	);
	const json = JSON.parse((await box.run('report --used --days 1 --json')).stdout) as {
		users: ReadonlyArray<Readonly<Record<string, number | string>>>;
		not_recorded: readonly unknown[];
		recorded_hours: number;
	};
	expect(json.users.map((row) => row['name'])).toContain('=cmd()');
	expect(json.not_recorded).toHaveLength(1);
	expect(json.recorded_hours).toBeCloseTo(3.5, 1);
	expect((await box.run('report --used --days 1 --user bob --format csv')).stdout).toBe(
		'user,reserved_gpu_hours,known_gpu_hours,used_gpu_hours,idle_gpu_hours\nbob,1.0000,0.0000,0.0000,0.0000\n',
	);
	expect((await box.run('report --used', {CANHAZGPU_REPORT_DAYS: '2'})).stdout).toContain(
		'reserved in the last 2 days',
	);
	expect((await box.run('report --used --user nobody')).stdout).toBe(
		'Nothing was reserved by "nobody" in the last 7 days\n',
	);
	expect(await box.run('report --used --by gpu')).toMatchObject({
		exitCode: 2,
		stderr: expect.stringContaining('Give --used or --by, not both') as unknown,
	});
});
