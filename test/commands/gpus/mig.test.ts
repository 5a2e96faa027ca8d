/** MIG instances on the command line: requested, used, shown, released and refused. */
import {writeFileSync} from 'node:fs';
import path from 'node:path';
import {expect, test} from 'vitest';
import {account, type Box} from '../../_helpers/program/cli.js';
import {freshEmbeddedBox, peek, start} from '../../_helpers/program/processes.js';
import {slowTest} from '../../_helpers/slow.js';
import {eventually} from '../../_helpers/eventually.js';

/** GPU 0 is whole and GPU 1 is split. `more` is appended to the scenario. */
function environmentOf(box: Box, more = '') {
	const file = path.join(box.home, 'scenario.yaml');
	writeFileSync(file, `mig: [{gpu: 1, profiles: [1g.10gb, 1g.10gb, 3g.40gb]}]\n${more}`, {mode: 0o600});
	return {CANHAZGPU_SIMULATED_SCENARIO: file, CANHAZGPU_RUN_QUIET: 'false'};
}

slowTest('reserve and run refuse an impossible MIG request and list the instances of the pool', async () => {
	const box = await freshEmbeddedBox(2);
	const environment = environmentOf(box);
	const said = async (words: string) => {
		const {exitCode, stderr} = await box.run(words, environment);
		return [exitCode, ...stderr.trimEnd().split('\n')];
	};

	expect(await said('run --gpu-ids 1:9 -- true')).toEqual([
		2,
		'Error: GPU 1 has no MIG instance 1:9',
		'GPU 1 has the instances 1:0 (1g.10gb), 1:1 (1g.10gb), 1:2 (3g.40gb).',
	]);
	expect(await said('reserve --gpu-ids 0:1')).toEqual([
		2,
		'Error: GPU 0 is not split by MIG: there is no instance 0:1',
		'Ask for the whole GPU: --gpu-ids 0',
	]);
	expect(await said('reserve --gpu-ids 1')).toEqual([
		2,
		'Error: GPU 1 is split by MIG, so it cannot be reserved whole',
		'Its instances are 1:0 (1g.10gb), 1:1 (1g.10gb), 1:2 (3g.40gb). Name one: --gpu-ids 1:0, or a profile: --mig 1g.10gb',
	]);
	expect(await said('reserve --gpus 2')).toEqual([
		2,
		'Error: Cannot reserve 2 GPUs of one model: this pool has at most 1',
		expect.stringMatching(/^The pool has 1 Simulated H100.* not split by MIG\. .*--mig 1g\.10gb\./v),
	]);
	expect(await said('reserve --mig 9g.99gb')).toEqual([
		2,
		'Error: No MIG instance of this pool is 9g.99gb or larger',
		'The pool has 2 of 1g.10gb, 1 of 3g.40gb.',
	]);
	expect(await said('reserve --mig 1g.10gb --gpus 4')).toEqual([
		2,
		'Error: Cannot reserve 4 MIG instances of 1g.10gb or larger: this pool has 3',
		'The pool has 2 of 1g.10gb, 1 of 3g.40gb.',
	]);
	expect(await said('reserve --mig small')).toEqual([
		2,
		'Error: --mig: "small" is not a MIG profile',
		'Write one such as 1g.10gb. To see the profiles of this pool: canhazgpu status',
	]);
	expect(await said('reserve --mig 1g.10gb --share 8G')).toEqual([
		2,
		'Error: --mig asks for a MIG instance, but --share applies only to whole GPUs',
		'Leave out one of them.',
	]);
	expect(await said('reserve --gpu-ids 0,1:1')).toEqual([
		2,
		'Error: --gpu-ids names both whole GPUs and MIG instances',
		'Use two commands.',
	]);
	expect(await said('reserve --gpu-ids 1:1,1:1')).toEqual([
		2,
		'Error: Instance 1:1 is named twice in 1:1,1:1',
		'Name each instance once.',
	]);
	expect(await said('reserve --gpu-ids 7:1')).toEqual([
		2,
		'Error: GPU 7 is out of range',
		'The pool has 2 GPU(s): ids are 0 to 1.',
	]);
	expect((await box.run('reserve --mig 1g.10gb')).stderr).toContain('Error: No GPU of this pool is split by MIG\n');
	expect((await peek(box)).gpus.every(({kind}) => kind === 'free')).toBe(true);
});

test('a MIG request gets the smallest instance that is large enough', async () => {
	const box = await freshEmbeddedBox(2);
	const environment = environmentOf(box);
	const run = async (words: string | readonly string[]) => box.run(words, environment);
	const names = ['CUDA_VISIBLE_DEVICES', 'NVIDIA_VISIBLE_DEVICES', 'CANHAZGPU_DOCKER_GPUS', 'CANHAZGPU_CDI'];
	const print = names.map((name) => `echo "$${name}"`).join(';');
	expect(await run(['run', '--mig', '1g.10gb', '--gpus', '2', '--', 'sh', '-c', print])).toMatchObject({
		exitCode: 0,
		stdout: [
			'MIG-SIM-1-0,MIG-SIM-1-1',
			'MIG-SIM-1-0,MIG-SIM-1-1',
			'"device=1:0,1:1"',
			'nvidia.com/gpu=1:0,nvidia.com/gpu=1:1',
			'',
		].join('\n'),
		stderr: 'Reserved 2 MIG instance(s): [1:0 1:1] for command execution\n',
	});
	expect((await run('reserve --gpu-ids 1:1 -d 1h -u ann')).stdout).toBe(
		'Reserved 1 MIG instance(s): [1:1] for 1h 0m 0s\n\nTo use them here:\nexport CUDA_VISIBLE_DEVICES=MIG-SIM-1-1\n',
	);
	expect((await run('reserve --mig 1g.10gb -d 1h -u bob --short')).stdout).toBe('MIG-SIM-1-0\n');
	// The whole GPU is free, and the smallest remaining instance is larger than requested.
	expect((await run('reserve -d 1h --short')).stdout).toBe('0\n');
	expect((await run('reserve --mig 1g.10gb -d 1h -u carol --short')).stdout).toBe('MIG-SIM-1-2\n');
	const refused = await run('reserve --mig 1g.10gb --nonblock');
	expect([refused.exitCode, ...refused.stderr.split('\n').slice(0, 2)]).toEqual([
		3,
		'Error: Not enough MIG instances available. Requested: 1, Available: 0',
		expect.stringMatching(
			new RegExp(
				String.raw`^MIG instance 1:0 is held by ${account} \(bob\) for another .*, MIG instance 1:1 is held by ${account} \(ann\)`,
				'v',
			),
		),
	]);

	const shown = (await run('status')).stdout;
	expect(shown).toContain(
		`3/3 MIG ${account} (ann) 1:1 1g.10gb, ${account} (bob) 1:0 1g.10gb, ${account} (carol) 1:2 3g.40gb`,
	);
	const waiter = start(box, 'reserve --mig 3g.40gb -d 1h -u dora --short', environment);
	await eventually(async () => (await peek(box)).queue.length === 1);
	expect((await run('queue')).stdout).toMatch(/ 1 MIG instance of 3g\.40gb or larger /v);
	expect((await run('extend --gpu-ids 1:1 -d 1h -u ann')).stdout).toMatch(
		/^Extended 1 MIG instance\(s\): \[1:1\]\nMIG instance 1:1 expires in (?:2h 0m 0s|1h 59m \d+s)\n$/v,
	);
	expect((await run('release --gpu-ids 1:2 -u carol')).stdout).toBe('Released 1 MIG instance(s): [1:2]\n');
	expect((await waiter.ended).exitCode).toBe(0);
	expect(waiter.stdout()).toBe('MIG-SIM-1-2\n');
	const events = (await run('events')).stdout;
	expect(events).toContain(`${account} (ann) extended MIG instance 1:1`);
	expect(events).toContain(`${account} (carol) released MIG instance 1:2`);
	expect((await run('release')).stdout).toBe('Released 1 GPU(s): [0]\n');
});

slowTest('status shows a removed MIG instance as gone', async () => {
	const box = await freshEmbeddedBox(2);
	await box.run('reserve --gpu-ids 1:0 -d 1h', environmentOf(box));
	const changed = environmentOf(box, '');
	writeFileSync(
		changed.CANHAZGPU_SIMULATED_SCENARIO,
		'mig: [{gpu: 1, profiles: [1g.10gb]}, {gpu: 1, profiles: [1g.10gb]}]\n',
		{mode: 0o600},
	);
	expect((await box.run('status', changed)).stdout).toContain(`0/1 MIG ${account} 1:0 1g.10gb (gone)`);
	const off = {...changed, CANHAZGPU_SIMULATED_SCENARIO: ''};
	expect((await box.run('status', off)).stdout).toContain(` 0/0 MIG ${account} 1:0 1g.10gb (gone) `);
	// The new instance has the same name and another UUID, so it is free.
	expect((await box.run('reserve --gpu-ids 1:0 -d 1h --short', changed)).stdout).toBe('MIG-SIM-1-0-1\n');
	expect((await box.run('release --gpu-ids 1:0', changed)).stdout).toBe('Released 2 MIG instance(s): [1:0 1:0]\n');
});

slowTest('unreserved use of a MIG instance blocks only that instance', async () => {
	const box = await freshEmbeddedBox(2);
	const squatter = 'processes: [{gpu: 1, instance: 0, user: mallory, command: miner, memory: 8000}]\n';
	const environment = environmentOf(box, squatter);
	expect((await box.run('reserve --mig 1g.10gb -d 1h --short', environment)).stdout).toBe('MIG-SIM-1-1\n');
	const refused = await box.run('reserve --gpu-ids 1:0 --nonblock', environment);
	expect(refused.exitCode).toBe(3);
	expect(refused.stderr).toContain('MIG instance 1:0 is used without a reservation by mallory');
	expect((await box.run('status', environment)).stdout).toContain('ALSO mallory without a reservation');
	expect((await box.run('reserve --gpu-ids 1:0 --force -d 1h --short', environment)).stdout).toBe('MIG-SIM-1-0\n');
});

test('a detached job names its MIG instances, and what it waits for', async () => {
	const box = await freshEmbeddedBox(2);
	const environment = environmentOf(box);
	const submit = async () => box.run('run --detach --mig 1g.10gb --gpus 2 -- sleep 600', environment);
	const jobs = async () =>
		JSON.parse((await box.run('jobs --json', environment)).stdout) as ReadonlyArray<Record<string, unknown>>;

	expect(await submit()).toMatchObject({stdout: '1\n'});
	await eventually(async () => (await jobs())[0]?.['details'] === 'MIG instances 1:0, 1:1');
	expect(await submit()).toMatchObject({stdout: '2\n'});
	await eventually(async () => (await jobs())[1]?.['details'] === 'waits for 2 MIG instances of 1g.10gb or larger');
	expect(await jobs()).toMatchObject([
		{
			need: {mig_profile: '1g.10gb'},
			requested_count: 2,
			gpu_ids: [1],
			mig_instances: [
				{gpu_id: 1, instance: 0},
				{gpu_id: 1, instance: 1},
			],
		},
		{need: {mig_profile: '1g.10gb'}, requested_count: 2},
	]);
	expect(await box.run('cancel 1 2', environment)).toMatchObject({exitCode: 0});
	await eventually(async () => (await jobs()).every(({state}) => state === 'cancelled'));
});
