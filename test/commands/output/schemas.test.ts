/**
Checks the output of `--json` against the schemas of `help json`: every key is described and every described key
appears.
*/
import {readdirSync, writeFileSync} from 'node:fs';
import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import {commandNames, findCommand} from '../../../source/command-line/find-command.js';
import {providerNames} from '../../../source/core/model/observation.js';
import admin from '../../../source/help/schema/admin.json' with {type: 'json'};
import {schemas} from '../../../source/help/schema/index.js';
import {understand} from '../../../source/main.js';
import {eventually} from '../../_helpers/eventually.js';
import {createEmbeddedBox, type Box} from '../../_helpers/program/cli.js';
import {peek, start} from '../../_helpers/program/processes.js';
import {slowTest} from '../../_helpers/slow.js';

type Validate = ((value: unknown) => boolean) & {readonly errors?: unknown};

type Validator = new (options: Readonly<Record<string, unknown>>) => {
	readonly compile: (schema: Record<string, unknown>) => Validate;
};

const {default: Ajv} = (await import('ajv')) as unknown as {default: Validator};

let box: Box;

beforeAll(async () => {
	box = await createEmbeddedBox(5);
});

afterAll(() => {
	box.remove();
});

/** Forbids keys that the schema does not describe. */
function closed(schema: unknown): unknown {
	if (Array.isArray(schema)) {
		return schema.map((inner) => closed(inner));
	}

	if (typeof schema !== 'object' || schema === null) {
		return schema;
	}

	const inner = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, closed(value)]));
	return 'properties' in inner && !('additionalProperties' in inner) ? {...inner, additionalProperties: false} : inner;
}

/** Every key that was seen, by its parent. */
const seen = new Map<string, Set<string>>();

function collect(name: string, value: unknown, path = ''): void {
	if (Array.isArray(value)) {
		for (const item of value) {
			collect(name, item, path);
		}
	} else if (typeof value === 'object' && value !== null) {
		for (const [key, inner] of Object.entries(value)) {
			seen.set(name, (seen.get(name) ?? new Set()).add(`${path}${key}`));
			collect(name, inner, `${path}${key}.`);
		}
	}
}

async function check(name: string, json: string, isOpen = false): Promise<unknown> {
	const {default: schema} = await schemas[name]!();
	const validate = new Ajv({allErrors: true}).compile((isOpen ? schema : closed(schema)) as Record<string, unknown>);
	const value: unknown = JSON.parse(json);
	expect([name, validate(value), validate.errors ?? undefined]).toEqual([name, true, undefined]);
	collect(name, value);
	return value;
}

const scenario = `
processes:
  - {gpu: 3, user: dave, command: python train.py, memory: 9000, utilization: 40}
health: [{gpu: 2, kind: xid, words: Xid 79}]
mig: [{gpu: 4, profiles: [1g.10gb, 3g.40gb]}]
`;

test('help json prints every schema file and suggests a name for a typo', async () => {
	const files = readdirSync(new URL('../../../source/help/schema/', import.meta.url), {recursive: true}).map((file) =>
		String(file).replace('/', '-'),
	);
	expect(files.filter((file) => file.endsWith('.json')).toSorted()).toEqual(
		Object.keys(schemas)
			.map((name) => `${name}.json`)
			.toSorted(),
	);
	for (const [name, load] of Object.entries(schemas)) {
		const shown = await understand(['help', 'json', name]);
		expect(JSON.parse('text' in shown ? shown.text : '')).toEqual((await load()).default);
	}

	expect(await box.run('help json statsu')).toEqual({
		exitCode: 2,
		stdout: '',
		stderr: 'Error: There is no schema "statsu"\nDid you mean: canhazgpu help json status\n',
	});
});

test('every command with --json has a schema, and run --json uses the schema of reserve', async () => {
	const commands = await Promise.all(commandNames.map(async (command) => findCommand(command)));
	const printing = commands.filter(({flags}) => Object.hasOwn(flags, 'json')).map(({name}) => name);
	expect(printing.filter((name) => name !== 'run' && !Object.hasOwn(schemas, name))).toEqual([]);
});

test('the schema of admin names every provider', () => {
	expect(admin.anyOf[0]?.properties.provider?.enum).toEqual([...providerNames]);
});

describe('the JSON output matches the schema', () => {
	slowTest('for reserve, status, queue, extend and release', async () => {
		const file = `${box.home}/scenario.yaml`;
		writeFileSync(file, scenario, {mode: 0o600});
		const environment = {CANHAZGPU_SIMULATED_SCENARIO: file};
		const ok = async (words: string | readonly string[]) => {
			const ran = await box.run(words, environment);
			expect([words, ran.exitCode, ran.stderr]).toEqual([words, 0, '']);
			return ran.stdout;
		};

		await ok('admin --set share=on');
		await check('reserve', await ok('reserve -G 1 --share 8G -n part -d 1h --json'));
		await check('status', await ok('status --json'));
		await ok('release -G 1');
		await check('reserve', await ok('reserve --mig 1g.10gb -d 1h --json'));
		await check('status', await ok('status --json'));
		await check('extend', await ok('extend -G 4:0,4:1 -d 1h --json'));
		await check('release', await ok('release -G 4:0,4:1 --json'));
		await check('reserve', await ok('reserve -G 0 -d 1h -n note -u team --json'));
		const job = start(
			box,
			['run', '-G', '1', '-t', '1h', '--json', '--', 'sh', '-c', 'sleep 60; :', 'sh', '--model', 'org/name'],
			environment,
		);
		await job.says(/^\{.*\}\n/v);
		await check('reserve', job.stderr());
		const waiter = start(box, 'reserve -G 0,1 -d 2h -n waits --wait 1h', environment);
		await eventually(async () => (await peek(box)).queue.length === 1);
		const behind = start(box, 'run -t 5m -G 1 -- true', environment);
		await eventually(async () => (await peek(box)).queue.length === 2);
		await ok('admin --drain 2 --reason fan');
		await check('status', await ok('status --json'));
		const followed = start(box, 'status --json --follow', environment);
		await eventually(() => followed.stdout().includes('\n'));
		await check('status-follow', followed.stdout().split('\n', 1)[0]!);
		followed.kill('SIGINT');
		expect((await followed.ended).exitCode).toBe(130);
		await check('queue', await ok('queue --json'));
		const all = await box.run('status --all --json', {
			...environment,
			CANHAZGPU_REMOTE_HOSTS: 'nowhere.invalid',
			PATH: '/nowhere:/usr/bin:/bin',
		});
		await check('status-all', all.stdout, true);
		const queues = await box.run('queue --all --json', {
			...environment,
			CANHAZGPU_REMOTE_HOSTS: 'nowhere.invalid',
			PATH: '/nowhere:/usr/bin:/bin',
		});
		await check('queue-all', queues.stdout, true);
		expect(await check('extend', await ok('extend -G 0,3 -d 1h --json'))).toMatchObject({not_reserved: [3]});
		const [first] = (await peek(box)).queue;
		await check('queue-leave', await ok(['queue', '--leave', first!.id, '--json']));
		await waiter.ended;
		await check('release', await ok('release -G 0,3 --json'));
		behind.kill('SIGTERM');
		job.kill('SIGTERM');
		await Promise.all([job.ended, behind.ended]);
	});

	slowTest('for run --detach and jobs', async () => {
		const ok = async (words: string) => (await box.run(words)).stdout;
		await check('run-detach', await ok('run --detach --gpu-ids 0 --json -- false'));
		await box.run('wait 1');
		await check('run-detach', await ok('run --detach --after any:1 --begin 1h --array 0-1%1 --json -- true'));
		await check('jobs', await ok('jobs --json'));
		await box.run('cancel 2');
		expect([...seen.get('jobs')!]).toEqual(
			expect.arrayContaining(['array_index', 'after', 'waits', 'exit_code', 'gpu_ids']),
		);
	});

	test('for admin, report, events and doctor', async () => {
		const ok = async (words: string) => (await box.run(words)).stdout;
		await check('admin', await ok('admin --drain 1 --reason fan --json'));
		await check('admin', await ok('admin --undrain 1,2 --json'));
		await check('admin', await ok('admin --set strategy=lru --json'));
		await check('admin', await ok('admin --policy --json'));
		await check('admin', await ok('admin --unset strategy --json'));
		await check('admin', await ok('admin --gpus 3 --provider fake --force --json'));
		for (const by of ['user', 'gpu', 'day', 'model']) {
			await check('report', await ok(`report --json --by ${by}`));
		}

		await check('web-held-use', await ok('report --used --json'));
		await check('events', await ok('events --json --count 10000'));
		await check('doctor', await ok('doctor --json'));
		expect(await check('notify', await ok('notify --json'))).toEqual({
			targets: [],
			events: ['expiry', 'idle', 'granted', 'overuse'],
		});
	});

	slowTest('for status, queue and report output that contains every important key', () => {
		expect([...seen.get('status')!]).toEqual(
			expect.arrayContaining([
				'ends_by',
				'since',
				'remaining_seconds',
				'unreserved_users',
				'process_info',
				'health',
				'drained.since',
				'shares.memory_used_mb',
				'shares.mig_instance.uuid',
				'mig_instances.instance',
				'shares.ends_by',
				'lease_id',
			]),
		);
		expect([...seen.get('queue')!]).toEqual(
			expect.arrayContaining([
				'entries.blocked_by.ends_by',
				'entries.blocked_by.position',
				'entries.duration_seconds',
				'entries.time_limit_seconds',
				'entries.estimate_seconds',
			]),
		);
		expect([...seen.get('report')!]).toEqual(expect.arrayContaining(['users', 'gpus', 'daily', 'models', 'since']));
	});
});
