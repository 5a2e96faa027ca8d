/**
The tests of the Go program, group by group: what each input gives there, and what it gives here. A case that differs stands in its group's
list with the reason, and no other case may differ. Groups that need a store are replayed by the files that are named for them.
*/
import {existsSync} from 'node:fs';
import {describe, expect, test} from 'vitest';
import {parseDuration} from '../../../source/core/rules/leases/durations.js';
import {modelOfCommand} from '../../../source/core/rules/leases/served-model.js';
import {checkWanted} from '../../../source/core/rules/allocation/request.js';
import {statusRows} from '../../../source/core/rules/pool/status.js';
import type {GpuRecord, Lease, Snapshot} from '../../../source/core/model/types.js';
import {longDuration} from '../../../source/format/text/durations.js';
import {detailWords, processList, userWords} from '../../../source/format/status-labels.js';
import {understand} from '../../../source/main.js';
import {parseTime} from '../../../source/store/records/json/time.js';
import {countOf, waitSecondsOf} from '../../../source/commands/shared/acquire.js';
import {commandOf} from '../../../source/commands/run.js';
import {formOf} from '../../../source/commands/status/status.js';
import {checkLabel} from '../../../source/command-line/flags.js';
import {idleReading, snapshotWith, observationOf} from '../../_helpers/world.js';

type Case = readonly [input: string, theirs: unknown, ours: unknown];

type Group = {
	readonly name: string;
	readonly cases: () => readonly Case[] | Promise<readonly Case[]>;
	/** Input -> why it differs. */
	readonly differences?: Readonly<Record<string, string>>;
	/** False for inputs beyond the Go program's own tests. */
	readonly isOwn?: boolean;
};

const refused = 'refused';

function orRefused<Value>(read: () => Value): Value | typeof refused {
	try {
		return read();
	} catch {
		return refused;
	}
}

const durationCases = (inputs: Readonly<Record<string, number | typeof refused>>): readonly Case[] =>
	Object.entries(inputs).map(([text, theirs]) => [text, theirs, orRefused(() => parseDuration(text, 'it'))]);

const hour = 3600;
const superset = 'understood here, refused there: no script can depend on that';
const noTime = 'it is no time to hold a GPU; there it ends at once, or before it begins';

const run = (lease: Partial<Lease>): GpuRecord => ({
	kind: 'leased',
	index: 0,
	raw: '{}',
	lease: {user: 'alice', type: 'run', startTime: 0, ...lease},
});

function detailsOf(lease: Partial<Lease>): string {
	const snapshot: Snapshot = snapshotWith({
		now: 100_000,
		pool: {gpuCount: 1, provider: 'fake'},
		gpus: [run(lease)],
	});
	return detailWords(statusRows(snapshot, observationOf([idleReading(0)]), 1024)[0]!);
}

function usersOf(...users: ReadonlyArray<string | undefined>): string {
	const processes = users.map((user, place) => ({pid: place + 1, user}));
	const reading = {...idleReading(0), memoryUsedMiB: 5000, processes};
	const free: GpuRecord = {kind: 'free', index: 0, raw: undefined};
	const snapshot = snapshotWith({gpus: [free]});
	return userWords(statusRows(snapshot, observationOf([reading]), 1024)[0]!);
}

/** A time in a record: what Go's `FlexibleTime` makes of it, in seconds, or refused. */
const timeCase = (json: string, theirs: number | 'unset' | typeof refused): Case => {
	const read = orRefused(() => parseTime(JSON.parse(json)));
	return [
		json,
		theirs,
		read === undefined ? 'unset' : read === 'invalid' ? refused : typeof read === 'number' ? Math.floor(read) : read,
	];
};

const modelCase = (command: string, theirs: string | undefined, provider?: string): Case => {
	const ours = modelOfCommand(command);
	return [
		command,
		theirs === undefined ? 'none' : `${provider ?? (theirs.includes('/') ? theirs.split('/', 1)[0] : '-')} ${theirs}`,
		ours === undefined ? 'none' : `${ours.provider ?? '-'} ${ours.model}`,
	];
};

/** Whether a line is accepted, up to the point at which a pool would be opened. */
async function lineCase(line: string | readonly string[], theirs: 'ok' | typeof refused): Promise<Case> {
	const words = typeof line === 'string' ? line.split(' ') : line;
	let ours = 'ok';
	try {
		const understood = await understand(words);
		// The verbs look at these before anything else.
		if ('command' in understood) {
			const {command, input} = understood;
			if (command.name === 'run' || command.name === 'reserve') {
				const ids = input.text('gpu-ids')?.split(',').map(Number);
				checkWanted({count: countOf(input, `${command.name}.gpus`, ids), ids}, 8);
				waitSecondsOf(input, command.name);
				checkLabel(input.config.get(`${command.name}.user`));
				if (command.name === 'run') {
					commandOf(input);
				}
			} else if (command.name === 'status') {
				formOf(input);
			}
		}
	} catch {
		ours = refused;
	}

	return [words.join(' '), theirs, ours];
}

const lines = async (ok: ReadonlyArray<string | readonly string[]>, wrong: ReadonlyArray<string | readonly string[]>) =>
	Promise.all([...ok.map(async (line) => lineCase(line, 'ok')), ...wrong.map(async (line) => lineCase(line, refused))]);

const groups: readonly Group[] = [
	{
		name: 'ParseDuration',
		cases: async () => [
			...durationCases({
				'30m': hour / 2,
				'2h': 2 * hour,
				'1d': 24 * hour,
				'0.5h': hour / 2,
				'0.5d': 12 * hour,
				'240m': 4 * hour,
				invalid: refused,
				abcm: refused,
				'abc.5h': refused,
			}),
			// What an empty text means is seen where it is typed.
			await lineCase(['reserve', '-d', ''], 'ok'),
		],
	},
	{
		name: 'durations, more inputs',
		isOwn: false,
		cases: () =>
			durationCases({
				'1m': 60,
				'90m': 5400,
				'+5m': 300,
				'.5h': hour / 2,
				'1.h': hour,
				'1.5h': 1.5 * hour,
				'1.25d': 30 * hour,
				'007h': 7 * hour,
				'8760h': 8760 * hour,
				'365d': 8760 * hour,
				'2H': refused,
				h: refused,
				'': refused,
				'1 h': refused,
				'1,5h': refused,
				'5': refused,
				'1w': refused,
				'1h1h': refused,
				'1e3h': refused,
				'0x1h': refused,
				'--1h': refused,
				'1.5.5h': refused,
				'0m': 0,
				'0h': 0,
				'0.0h': 0,
				'-5m': -300,
				'-1h': -hour,
				'-0.5h': -hour / 2,
				'99999999h': 99_999_999 * hour,
				'1h30m': refused,
				'1d12h': refused,
				'0.5m': refused,
				'30s': refused,
				' 2h ': refused,
			}),
		differences: {
			'0m': noTime,
			'0h': noTime,
			'0.0h': noTime,
			'-5m': noTime,
			'-1h': noTime,
			'-0.5h': noTime,
			'99999999h': 'more than a hundred years; there it overflows',
			'1h30m': superset,
			'1d12h': superset,
			'0.5m': superset,
			'30s': superset,
			' 2h ': superset,
		},
	},
	{
		name: 'FormatDuration',
		cases: () =>
			(
				[
					[0, '0h 0m 0s'],
					[30, '0h 0m 30s'],
					[330, '0h 5m 30s'],
					[9045, '2h 30m 45s'],
					[25 * hour + 90 * 60 + 120, '26h 32m 0s'],
				] as const
			).map(([seconds, theirs]) => [String(seconds), theirs, longDuration(seconds)]),
	},
	{
		name: 'FormatTimeAgo, FormatTimeUntil, as status shows them',
		cases: () => [
			['no heartbeat', 'active', detailsOf({})],
			['a heartbeat 2 h ago', 'heartbeat 2h 0m 0s ago', detailsOf({lastHeartbeat: 100_000 - 2 * hour})],
			['a heartbeat to come', 'heartbeat in the future', detailsOf({lastHeartbeat: 100_000 + hour})],
			['no end', 'manual reservation', detailsOf({type: 'manual'})],
			['an end in 2 h', 'expires in 2h 0m 0s', detailsOf({type: 'manual', expiryTime: 100_000 + 2 * hour})],
			['an end that was', 'expires in 0h 0m 0s', detailsOf({type: 'manual', expiryTime: 100_000 - hour})],
		],
		differences: {'a heartbeat to come': 'a clock that was set back makes no age: it is 0s ago'},
	},
	{
		name: 'FormatUserList, FormatProcessList',
		cases: () => [
			['no user is known', 'unknown', usersOf(undefined)],
			['one user', 'alice', usersOf('alice')],
			['two users', 'alice and bob', usersOf('alice', 'bob')],
			['three users', 'alice, bob and 1 more', usersOf('alice', 'bob', 'carol')],
			['no process', '', processList([])],
			[
				'two processes',
				'PID 1 (python), PID 2 (torch)',
				processList([
					{pid: 1, name: 'python'},
					{pid: 2, name: 'torch'},
				]),
			],
			[
				'three processes',
				'PID 1 (a), PID 2 (b) and 1 more',
				processList([
					{pid: 1, name: 'a'},
					{pid: 2, name: 'b'},
					{pid: 3, name: 'c'},
				]),
			],
		],
		differences: {
			'two users': 'all users with commas: the one who is not named may be the one you look for',
			'three users': 'all users with commas',
		},
	},
	{
		name: 'FlexibleTime',
		cases: () => [
			timeCase('1640995200', 1_640_995_200),
			timeCase('1640995200.123', 1_640_995_200),
			timeCase('"2022-01-01T00:00:00Z"', 1_640_995_200),
			timeCase('"2022-01-01T12:30:45-05:00"', 1_641_058_245),
			timeCase('invalid', refused),
			timeCase('"not-a-time"', refused),
		],
	},
	{
		name: 'FlexibleTime, more inputs',
		isOwn: false,
		cases: () => [
			timeCase('null', 'unset'),
			timeCase('0', 0),
			timeCase('"1640995200"', 1_640_995_200),
			timeCase('"1640995200.5"', 1_640_995_200),
			timeCase('"2022-01-01T00:00:00.123456789+02:00"', 1_640_988_000),
			timeCase('"0001-01-01T00:00:00Z"', 'unset'),
			timeCase('"2022-02-30T00:00:00Z"', refused),
			timeCase('"2022-01-01"', refused),
			timeCase('true', refused),
			timeCase('{}', refused),
			timeCase('[]', refused),
			timeCase('""', refused),
			timeCase('"2026-11-22 03:07:39Z"', refused),
			timeCase('-1', -1),
			timeCase('"-1"', -1),
			timeCase('1640995200000', 1_640_995_200_000),
		],
		differences: {
			'""': 'no time is no reason to lose a GPU',
			'"2026-11-22 03:07:39Z"': 'a blank for the T is RFC 3339, too',
			'-1': 'no lease began before 1970: the record is garbage',
			'"-1"': 'as above',
			'1640995200000': 'milliseconds, and no time in the year 53970',
		},
	},
	{
		name: 'AllocationRequest.Validate',
		cases: async () =>
			lines(
				[
					'run -g 2 -- true',
					'reserve -g 1 -d 1h',
					'run -G 1,3,5 -- true',
					'run -g 2 -G 1,3 -- true',
					'run -g 1 -G 1,3,5 -- true',
					'run -- true',
				],
				[
					'run -g 3 -G 1,3 -- true',
					'run -G 1,3,1 -- true',
					'run -G 1,-1,3 -- true',
					'run -g -1 -- true',
					['reserve', '-u', ' '],
					'reserve --type invalid',
				],
			),
	},
	{
		name: 'runRun and validateRunCommand',
		cases: async () =>
			lines(
				[
					'run --gpus 0 -- echo test',
					'run -- python train.py',
					'run --gpus 2 -- python train.py --epochs 3',
					'run -g 2 -n note -- true',
					'run --note=a -- true',
					'run -- -strange',
					['run', '--', 'sh', '-c', 'a b'],
					['run', '--', 'a', '--', 'b'],
					'run -w 5m -- true',
					'run --nonblock -- true',
				],
				[
					'run',
					'run --',
					'run python train.py',
					'run --gpus 2 python train.py',
					'run -g 2 vllm serve model --port 8000',
					'run --help',
					'run --unknown -- true',
					'run extra -- --',
					'run --gpus two -- true',
				],
			),
		differences: {
			'run --gpus 0 -- echo test': 'no GPU is not one GPU',
			'run --help': 'it shows the help',
		},
	},
	{
		name: 'model detection',
		cases: () => [
			modelCase('python train.py', undefined),
			modelCase(
				'python -m vllm.entrypoints.openai.api_server serve openai/whisper-large-v3 --port 8000',
				'openai/whisper-large-v3',
			),
			modelCase('vllm serve meta-llama/Llama-2-7b-chat-hf --port 8080', 'meta-llama/Llama-2-7b-chat-hf'),
			modelCase(
				'python -m vllm.entrypoints.openai.api_server --model qwen/Qwen2-7B-Instruct --host 0.0.0.0',
				'qwen/Qwen2-7B-Instruct',
			),
			modelCase(
				'VLLM_USE_V1=1 canhazgpu run -- vllm serve openai/whisper-large-v3 --enforce-eager',
				'openai/whisper-large-v3',
			),
			modelCase(
				'vllm serve --model mistralai/Mistral-7B-Instruct-v0.1 --port 8000',
				'mistralai/Mistral-7B-Instruct-v0.1',
			),
			modelCase('/usr/local/bin/vllm serve meta-llama/Llama-2-7b-chat-hf --port 8080', 'meta-llama/Llama-2-7b-chat-hf'),
			modelCase(
				'./venv/bin/vllm serve deepseek-ai/deepseek-coder-6.7b-instruct',
				'deepseek-ai/deepseek-coder-6.7b-instruct',
			),
			modelCase('CUDA_VISIBLE_DEVICES=0,1 vllm serve meta-llama/Llama-2-7b-chat-hf', 'meta-llama/Llama-2-7b-chat-hf'),
			modelCase('vllm serve --host 0.0.0.0 --port 8080 qwen/Qwen2-7B-Instruct', undefined),
			modelCase('vllm generate openai/whisper-large-v3', undefined),
			modelCase('vllm serve --port 8080', undefined),
			modelCase('vllm serve --model=meta-llama/Llama-3.2-1B-Instruct --port 8000', 'meta-llama/Llama-3.2-1B-Instruct'),
			modelCase('python train.py --model openai/whisper-large-v3 --epochs 10', 'openai/whisper-large-v3'),
			modelCase(
				'some-inference-server --model=meta-llama/Llama-2-7b-chat-hf --port 8080',
				'meta-llama/Llama-2-7b-chat-hf',
			),
			modelCase(
				'custom-tool --batch-size 32 --model qwen/Qwen2-7B-Instruct --output ./results',
				'qwen/Qwen2-7B-Instruct',
			),
			modelCase('python script.py --model', undefined),
			modelCase('python script.py --epochs 10 --batch-size 32', undefined),
			modelCase('tool --model= --other-flag', undefined),
			modelCase('tool --model llama-2-7b --port 8080', 'llama-2-7b'),
			modelCase(
				'tool --model huggingface/transformers/bert-base-uncased',
				'huggingface/transformers/bert-base-uncased',
			),
			modelCase(
				'lm_eval --model vllm --model_args {"pretrained": "meta-llama/Meta-Llama-3-8B-Instruct", "x": 0.8} --tasks gsm8k',
				'meta-llama/Meta-Llama-3-8B-Instruct',
			),
			modelCase('lm_eval --model hf --model_args pretrained=EleutherAI/pythia-70m,dtype=auto', 'EleutherAI/pythia-70m'),
			modelCase('lm_eval --model vllm --model_args {"dtype": "auto"} --tasks gsm8k', undefined),
			modelCase('lm_eval --model hf --tasks arc', undefined),
			modelCase('lm_eval --model vllm --model_args dtype=auto --tasks ruler', undefined),
			modelCase('lm_eval --model hf --model_args pretrained=,dtype=auto', undefined),
			...(
				[
					['Meta-Llama-3.1-8B-Instruct-custom', 'meta-llama'],
					['Llama-2-7b', 'meta-llama'],
					['Qwen2-7B', 'qwen'],
					['DeepSeek-V3', 'deepseek-ai'],
					['Mistral-7B', 'mistralai'],
					['mixtral-8x7b', 'mistralai'],
					['gpt-oss-20b', 'openai'],
					['whisper-large', 'openai'],
				] as const
			).map(([name, publisher]) =>
				modelCase(
					`lm_eval --model vllm --model_args pretrained=/models/${name},dtype=auto --tasks ruler`,
					`${publisher}/${name}`,
				),
			),
			modelCase('lm_eval --model vllm --model_args pretrained=/models/unknown-model,dtype=auto', undefined),
			modelCase('lm_eval --model vllm --model_args {"pretrained": "a/b"', undefined),
			modelCase('vllm serve /models/llama-3', '/models/llama-3', ''),
			modelCase(`vllm serve org/${'x'.repeat(60)}`, `org/${'x'.repeat(43)}...`),
		],
		differences: {
			'lm_eval --model vllm --model_args pretrained=/models/unknown-model,dtype=auto':
				'a model of an unknown family is a model, too',
			'lm_eval --model vllm --model_args {"pretrained": "a/b"': 'a JSON that was cut off names its model all the same',
			'vllm serve /models/llama-3': 'a path shows its last part',
			[`vllm serve org/${'x'.repeat(60)}`]: 'only the table cuts a name, at 50 signs; JSON has it whole',
		},
	},
	{
		name: 'flags of both command lines',
		isOwn: false,
		cases: async () =>
			lines(
				[
					'reserve',
					'reserve -g 2',
					'reserve -g2',
					'reserve -g=2',
					'reserve --gpus=2',
					'reserve --gpus 2',
					'reserve -G 1,3',
					'reserve -G1,3',
					'reserve -G 1 -G 3',
					'reserve --gpu-ids=1,3',
					'reserve -d 2h',
					'reserve -d2h',
					'reserve -d=2h',
					'reserve -fd2h',
					'reserve -fsd 2h',
					'reserve -n foo',
					'reserve -nfoo',
					['reserve', '-n', ''],
					['reserve', '-u', ''],
					['reserve', '-w', ''],
					'reserve -ualice',
					'reserve -w30m',
					'reserve --nonblock',
					'reserve --nonblock=true',
					'reserve --short=false',
					'reserve -s',
					'run -t2h -- true',
					'run -g1 -t 2h -- true',
					'run -w30m -- true',
					'run -nfoo -- true',
					['run', '-t', '', '--', 'true'],
					'release',
					'release -G1,3',
					'release -G 1 -G 3',
					'status',
					'status -j',
					'status -s',
					'status --json=true',
					'status -j=false',
					'status -r host',
					'status -rhost',
					'status --all --no-color',
					'queue --json',
					'report -d7',
					'report -d 365',
					'report -j',
					'web -p0 --demo',
					'admin -g 8 -p fake',
					'admin -g8 -pfake --force',
					'-v',
					'--version',
					'-h',
					'help reserve',
					'reserve --help',
					'reserve --nonblock -w 5m',
					'reserve foo',
					'status -js',
					'reserve --gpus 1 --gpus 2',
				],
				[
					'reserve -x',
					'reserve --gpuz 2',
					'reserve -g',
					'reserve -d',
					'run -tg 1 -- true',
					'status -jx',
					'reserve -g two',
					'report -d x',
				],
			),
		differences: {
			'run -t  -- true': 'a time limit must not get lost',
			'reserve --nonblock -w 5m': 'one says to wait and the other not to',
			'status -js': 'one of the two would be passed over',
			'reserve foo': 'words that mean nothing are slips of the finger',
			'reserve --gpus 1 --gpus 2': 'which of the two is meant is not clear',
		},
	},
];

/** Groups of the Go program's tests that need a store, a tool or processes: how many cases, how many differ and why, and where ours are. */
const replayedElsewhere: ReadonlyArray<
	readonly [group: string, tried: number, different: readonly string[], where: string]
> = [
	[
		'AtomicReserve*, MixedMode',
		11,
		['a heartbeat 301 s old is not stale: 15 min'],
		'test/core/operations/reservations.test.ts',
	],
	['MRU concept, two scenarios', 3, [], 'test/core/rules/allocation/strategy.test.ts'],
	['ReleaseSpecificGPUs', 6, ['unknown ids: exit code 2'], 'test/commands/output/wrong-input.test.ts'],
	['Queue', 7, [], 'test/commands/queue/queue.test.ts'],
	['Usage history', 7, ['old and new records: both count'], 'test/commands/pool/old-history.test.ts'],
	['Provider back-compat', 5, ['nvidia is not written into the key'], 'test/store/contract/records.ts'],
	['thresholds', 5, ['a GPU that the tool does not show: ERROR'], 'test/format/validation.test.ts'],
	['AMD JSON', 8, [], 'test/gpu/amd/amd.test.ts'],
	['Fake provider', 6, ['model name and load'], 'test/gpu/simulated.test.ts'],
	['status table', 3, [], 'test/format/validation.test.ts'],
	['structure, constants', 10, ['there is a verb completion', '15 min, not 5'], 'test/help.test.ts'],
	['heartbeat loss', 2, [], 'test/core/operations/leases/job-lease.test.ts'],
];

const counted: Array<{readonly isOwn: boolean; readonly tried: number; readonly different: number}> = [];

describe.each(groups)('$name', ({name, cases, differences = {}, isOwn = true}) => {
	test('differs where it is said, and nowhere else', async () => {
		const all = await cases();
		const different = all.filter(([, theirs, ours]) => !Object.is(theirs, ours));
		expect([
			name,
			different
				.map(([input, theirs, ours]) => ({input, theirs, ours}))
				.filter(({input}) => !Object.hasOwn(differences, input)),
		]).toEqual([name, []]);
		expect(different.map(([input]) => input).toSorted()).toEqual(Object.keys(differences).toSorted());
		counted.push({isOwn, tried: all.length, different: different.length});
	});
});

test.each(replayedElsewhere)('%s: replayed by a file that is there', (_, tried, different, where) => {
	expect(existsSync(new URL(`../../../${where}`, import.meta.url))).toBe(true);
	counted.push({isOwn: true, tried, different: different.length});
});

test("the closing count: of the Go program's own cases 17 differ, and of all with the further inputs 39", () => {
	const own = counted.filter(({isOwn}) => isOwn);
	const sum = (list: typeof counted, key: 'tried' | 'different') => list.reduce((total, each) => total + each[key], 0);
	expect({tried: sum(own, 'tried'), different: sum(own, 'different')}).toEqual({tried: 177, different: 17});
	expect({tried: sum(counted, 'tried'), different: sum(counted, 'different')}).toEqual({tried: 293, different: 39});
});
