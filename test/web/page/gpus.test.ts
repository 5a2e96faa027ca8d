/** Pure rules of the page: filtering and grouping GPUs, own reservations, and shell commands for GPUs. */
import {execFileSync} from 'node:child_process';
import process from 'node:process';
import fc from 'fast-check';
import {expect, test} from 'vitest';
import {askExtend, askRelease} from '../../../source/web/page/act/dialogs.js';
import {ownLeasesOn} from '../../../source/web/page/act/ownership.js';
import type {Gpu} from '../../../source/web/page/fields.js';
import {shellCommands} from '../../../source/web/page/gpu/commands.js';
import {groupsOf} from '../../../source/web/page/gpus/groups.js';
import {isAsked, peopleOn, queryOf, questionIn} from '../../../source/web/page/gpus/question.js';
import {timeText} from '../../../source/web/page/text.js';

const words = ['alice', 'Bob', 'eval 70B', 'train.py', 'H100', '7'];
const word = fc.constantFrom(...words);

const anyGpu: fc.Arbitrary<Gpu> = fc.record(
	{
		gpu_id: fc.nat(63),
		state: fc.constantFrom('available', 'in-use', 'unreserved', 'drained', 'error'),
		user: word,
		note: word,
		lease_id: fc.constantFrom('a', 'b'),
		unreserved_users: fc.array(word, {minLength: 1, maxLength: 2}),
		squatters: fc.constantFrom([1], [2]),
		processes: fc.array(fc.record({pid: fc.constantFrom(1, 2), user: word, command: word}), {maxLength: 2}),
	},
	{requiredKeys: ['gpu_id', 'state']},
);

const anyQuestion = fc.record({
	filter: fc.array(word, {maxLength: 3}).map((all) => all.join(' ')),
	user: fc.constantFrom('', ...words),
	state: fc.constantFrom('' as const, 'available' as const, 'in-use' as const),
	mine: fc.boolean(),
	layout: fc.constantFrom(undefined, 'cards' as const, 'rows' as const),
	group: fc.constantFrom('none' as const, 'job' as const, 'user' as const),
});

test('questionIn restores every filter that queryOf wrote into the address', () => {
	fc.assert(
		fc.property(anyQuestion, (question) => {
			expect(questionIn(new URLSearchParams(queryOf(question)))).toEqual(question);
		}),
	);
	expect(questionIn(new URLSearchParams('state=on-fire&as=lines&group=mood'))).toEqual(
		questionIn(new URLSearchParams()),
	);
});

test('isAsked accepts every GPU if there is no filter, and an additional condition only excludes GPUs', () => {
	fc.assert(
		fc.property(anyGpu, anyQuestion, word, (gpu, question, more) => {
			const nothing = questionIn(new URLSearchParams());
			expect(isAsked(gpu, nothing, '')).toBe(true);
			const narrower = [
				{...question, filter: `${question.filter} ${more}`},
				{...question, mine: true},
				...(question.user === '' ? [{...question, user: more}] : []),
			];
			for (const asked of narrower) {
				expect(isAsked(gpu, asked, 'alice') && !isAsked(gpu, question, 'alice')).toBe(false);
			}

			expect(isAsked(gpu, {...nothing, mine: true}, '')).toBe(false);
			for (const person of peopleOn(gpu)) {
				expect(isAsked(gpu, {...nothing, user: person, filter: person}, '')).toBe(true);
			}
		}),
	);
});

test('peopleOn returns labels, accounts and users without a reservation, but no other users of processes', () => {
	const gpu: Gpu = {
		gpu_id: 1,
		state: 'in-use',
		user: 'root (zoe)',
		squatters: [7],
		processes: [
			{pid: 7, user: 'mallory'},
			{pid: 8, user: 'guest'},
		],
	};
	expect([...peopleOn(gpu)]).toEqual(['zoe', 'root', 'mallory']);
	const shares = [{user: 'ann'}, {user: 'ben'}] as unknown as NonNullable<Gpu['shares']>;
	expect([...peopleOn({gpu_id: 2, state: 'in-use', user: '2 shared', shares})]).toEqual(['ann', 'ben']);
});

test('groupsOf puts each GPU into one group, and all GPUs of a lease together, even without a lease id', () => {
	fc.assert(
		fc.property(fc.uniqueArray(anyGpu, {selector: ({gpu_id: index}) => index}), (gpus) => {
			const grouped = groupsOf(gpus, 'job').flatMap((group) => group.gpus);
			expect(grouped.map(({gpu_id: index}) => index).toSorted()).toEqual(
				gpus.map(({gpu_id: index}) => index).toSorted(),
			);
		}),
	);
	const held = {state: 'in-use', user: 'ann', start_time: '2026-01-01T00:00:00Z'} as const;
	const groups = groupsOf(
		[
			{gpu_id: 0, state: 'available'},
			{gpu_id: 1, ...held},
			{gpu_id: 2, ...held, lease_id: 'x'},
			{gpu_id: 3, ...held},
		],
		'job',
	);
	expect(groups.map(({name, gpus}) => [name, gpus.map(({gpu_id: index}) => index)])).toEqual([
		['ann', [1, 3]],
		['ann', [2]],
		['Free', [0]],
	]);
});

test('shellCommands pass the text of other people on unchanged, locally and over ssh', () => {
	const hostile = "x$(echo PWNED)'`echo PWNED`; echo '\"";
	const gpu: Gpu = {gpu_id: 2, state: 'in-use', held_for_queue: hostile};
	const local = shellCommands(gpu)[0]!.command;
	const remote = shellCommands(gpu, 'box-2')[0]!.command;
	const said = 'canhazgpu() { printf \'%s\\n\' "$@"; }\n';
	// Like ssh, joins the words of the remote command and gives them to a second shell.
	const ssh = 'ssh() { shift 2; sh -c "$said$*"; }\n';
	const run = (script: string): string =>
		execFileSync('sh', ['-c', script], {encoding: 'utf8', env: {...process.env, said}});
	expect(run(`${said}${local}`)).toBe(`queue\n--leave\n${hostile}\n`);
	expect(run(`${ssh}${remote}`)).toBe(`queue\n--leave\n${hostile}\n`);
});

test('shellCommands fit the state of the GPU, and use ssh for another host', () => {
	const commands = (gpu: Partial<Gpu>, host?: string) =>
		shellCommands({gpu_id: 2, state: 'available', ...gpu}, host).map(({command}) => command);
	expect(commands({})).toContain('canhazgpu reserve --gpu-ids 2');
	expect(commands({state: 'in-use', reservation_type: 'manual'})).toEqual([
		'canhazgpu extend --gpu-ids 2 --duration 2h',
		'canhazgpu release --gpu-ids 2',
		'canhazgpu reserve --gpu-ids 2',
		'canhazgpu who 2',
	]);
	// A job ends with its command, so it cannot be extended.
	expect(commands({state: 'in-use', reservation_type: 'run'}).join('\n')).not.toContain('extend');
	// GPUs held for a queue entry are neither extended nor released, but given up with the position.
	expect(commands({state: 'in-use', reservation_type: 'manual', held_for_queue: 'entry-1'})).toEqual([
		'canhazgpu queue --leave entry-1',
		'canhazgpu reserve --gpu-ids 2',
		'canhazgpu who 2',
	]);
	// A shared GPU offers another share if memory is left, and waiting for the whole GPU.
	const shared = (...gibibytes: readonly number[]) => {
		const shares = gibibytes.map((size) => ({user: 'ann', memory_mb: size * 1024})) as unknown as Gpu['shares'];
		const found = shellCommands({gpu_id: 2, state: 'in-use', share_capacity_mb: 46_000, shares});
		return found.map(({does, command}) => `${does}: ${command}`).slice(0, -1);
	};

	const whole = 'Wait in the queue for the whole GPU: canhazgpu reserve --gpu-ids 2';
	const release = 'Release your part of this GPU: canhazgpu release --gpu-ids 2';
	expect(shared(20)).toEqual([
		release,
		'Reserve a share of the memory that is left: canhazgpu reserve --gpu-ids 2 --share 8G',
		whole,
	]);
	expect(shared(20, 20)[1]).toBe(
		'Reserve a share of the memory that is left: canhazgpu reserve --gpu-ids 2 --share 4G',
	);
	expect(shared(24, 20)[1]).toBe('Wait in the queue for a share of this GPU: canhazgpu reserve --gpu-ids 2 --share 8G');
	// A GPU split by MIG is not handed out whole.
	const split = {mig_instances: [{instance: 0}, {instance: 1}]};
	expect(commands({mig_instances: []})).toEqual(['canhazgpu who 2']);
	const holds = (...instances: readonly number[]) =>
		instances.map((instance) => ({user: 'ann', mig_instance: {instance}})) as unknown as NonNullable<Gpu['shares']>;
	expect(commands(split)).toEqual([
		'canhazgpu reserve --gpu-ids 2:0',
		'canhazgpu run --gpu-ids 2:0 -- python train.py',
		'canhazgpu who 2',
	]);
	expect(commands({...split, state: 'in-use', shares: holds(0)})).toEqual([
		'canhazgpu release --gpu-ids 2',
		'canhazgpu reserve --gpu-ids 2:1',
		'canhazgpu run --gpu-ids 2:1 -- python train.py',
		'canhazgpu who 2',
	]);
	expect(commands({...split, state: 'in-use', shares: holds(0, 1)})).toEqual([
		'canhazgpu release --gpu-ids 2',
		'canhazgpu reserve --gpu-ids 2:0',
		'canhazgpu who 2',
	]);
	expect(commands({state: 'unreserved', processes: [{pid: 12}]})).toContain('canhazgpu reserve --pid 12');
	const ofSlurm = {node: 'box1', node_gpu_id: 0};
	expect(commands(ofSlurm)[0]).toBe('canhazgpu reserve --gpus 1 --on box1');
	expect(commands({...ofSlurm, state: 'in-use', lease_id: '17'})).toEqual([
		'canhazgpu release --lease 17',
		'scontrol show job 17',
		'canhazgpu reserve --gpus 1 --on box1',
	]);
	expect(commands({...ofSlurm, state: 'drained'})).toEqual(['scontrol update NodeName=box1 State=RESUME']);
	expect(commands({node: "b'x"}).join('\n')).toContain(String.raw`--on 'b'\''x'`);
	expect(commands({state: 'drained'}, 'box-2')).toContain('ssh -t box-2 canhazgpu admin --undrain 2');
	expect(commands({state: 'error'}, "a'; rm")).toContain(String.raw`ssh -t 'a'\''; rm' canhazgpu doctor`);
});

test('timeText is empty for a shared GPU, and omits unknown times of a reservation', () => {
	const nowMs = Date.parse('2026-05-01T12:00:00Z');
	const gpu = {gpu_id: 0, state: 'in-use'} as const;
	const shares = [{user: 'ann', memory_mb: 1024}] as unknown as NonNullable<Gpu['shares']>;
	expect(timeText({...gpu, shares}, nowMs)).toBe('');
	const start = {start_time: '2026-05-01T11:00:00Z'};
	expect(timeText({...gpu, ...start}, nowMs)).toBe('for 1h 00m');
	expect(timeText({...gpu, ...start, ends_by: '2026-05-01T12:30:00Z'}, nowMs)).toBe('for 1h 00m · 30m left');
	expect(timeText({...gpu, ...start, is_suspended: true}, nowMs)).toBe('for 1h 00m · suspended');
	expect(timeText({...gpu, ends_by: '2026-05-01T12:30:00Z'}, nowMs)).toBe('30m left');
});

test('ownLeasesOn returns every own reservation on a shared or split GPU, and its dialogs name its part', () => {
	const gpu = (index: number, ...shares: ReadonlyArray<Readonly<Record<string, unknown>>>): Gpu => ({
		gpu_id: index,
		state: 'in-use',
		shares: shares.map((share) => ({expiry_time: '2026-05-01T12:30:00Z', ...share})) as unknown as Gpu['shares'],
	});
	const gpus = [
		gpu(0, {user: 'ada', lease_id: 'a', memory_mb: 8192, note: 'idle'}, {user: 'bob', lease_id: 'b', memory_mb: 8192}),
		gpu(
			1,
			{user: 'ada', lease_id: 'a', memory_mb: 8192, note: 'idle'},
			{user: 'ada', lease_id: 'c', memory_mb: 20_480},
		),
		gpu(
			2,
			{user: 'ada', lease_id: 'd', mig_instance: {instance: 0, profile: '1g.10gb'}},
			{user: 'ada', lease_id: 'e', mig_instance: {instance: 1, profile: '1g.10gb'}},
			{user: 'ada', lease_id: 'e', mig_instance: {instance: 2, profile: '1g.10gb'}},
		),
	];
	const titles = gpus.map((each) =>
		ownLeasesOn(each, gpus, 'ada').map((lease) =>
			[lease.leaseId, askExtend(lease).title, askRelease(lease, false).title]
				.join(': ')
				.replaceAll(/[\u{2068}\u{2069}]/gv, ''),
		),
	);
	expect(titles).toEqual([
		['a: Extend GPUs 0,1 (8G, idle): Release GPU 0 (8G, idle)'],
		['a: Extend GPUs 0,1 (8G, idle): Release GPU 1 (8G, idle)', 'c: Extend GPU 1 (20G): Release GPU 1 (20G)'],
		[
			'd: Extend GPU 2 (2:0 1g.10gb): Release GPU 2 (2:0 1g.10gb)',
			'e: Extend GPU 2 (2:1 1g.10gb, 2:2 1g.10gb): Release GPU 2 (2:1 1g.10gb, 2:2 1g.10gb)',
		],
	]);
	// The end distinguishes shares of the same size without notes.
	const [first] = ownLeasesOn(gpus[1]!, gpus, 'ada');
	expect(askRelease(first!, false).about[0]).toMatch(/^It ends /v);
});
