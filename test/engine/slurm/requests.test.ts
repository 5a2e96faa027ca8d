import {Buffer} from 'node:buffer';
import {execFileSync} from 'node:child_process';
import fc from 'fast-check';
import {expect, test} from 'vitest';
import type {AcquireRequest} from '../../../source/core/rules/request/request.js';
import {clusterEnvironment, submitEnvironment} from '../../../source/engine/slurm/cluster.js';
import {checkExpressible, errorOf, oldVersionError} from '../../../source/engine/slurm/refusals.js';
import {
	laterWords,
	requestWords,
	scriptOf,
	shardsFor,
	typeFor,
	typeOfProfile,
} from '../../../source/engine/slurm/request-words.js';
import {engineReasonText} from '../../../source/format/engine/engine-reasons.js';
import {isLong} from '../../_helpers/slow.js';

const request = (given: Partial<AcquireRequest> = {}): AcquireRequest => ({
	requester: {account: 'ann', uid: 1000, label: 'ann'},
	count: 2,
	tenure: {type: 'manual', durationSeconds: 3601},
	...given,
});

test('requestWords passes each part of a request as one argument, whatever the note contains', () => {
	const note = '; rm -rf $(x) "q" --gres=gpu:9';
	expect(
		requestWords(request({note, host: 'box2'}), {
			waitSeconds: 0.2,
			gres: {name: 'gpu', type: 'a100', count: 2},
			name: 'reserve',
		}),
	).toEqual([
		'--nodes=1',
		'--gres=gpu:a100:2',
		'--job-name=reserve',
		'--time=61',
		`--comment=${note}`,
		'--nodelist=box2',
		'--immediate=1',
	]);
	expect(
		requestWords(request({tenure: {type: 'run'}}), {
			waitSeconds: undefined,
			gres: {name: 'gpu', count: 2},
			name: 'python',
		}),
	).toEqual(['--nodes=1', '--gres=gpu:2', '--job-name=python']);
});

test.each<[Partial<AcquireRequest>, string]>([
	[{ids: [1]}, '--gpu-ids'],
	[{requester: {account: 'ann', uid: 1, label: 'bob'}}, '--user'],
	[{strategy: 'lru'}, '--strategy'],
	[{force: true}, '--force'],
	[{need: {minMemoryMiB: 1}}, '--min-memory'],
	[{need: {minCompute: '8.0'}}, '--min-compute'],
	[{need: {nvlink: true}}, '--nvlink'],
	[{need: {sameModel: true}}, '--same-model'],
	[{need: {shareMiB: 1}}, '--share'],
	[{need: {mig: {instances: [{gpu: 0, number: 1}]}}}, '--gpu-ids'],
	[{need: {mig: {profile: '1g.10gb'}, models: ['a100']}}, '--mig'],
	[{need: {models: ['a', 'b']}}, '--model'],
])('checkExpressible rejects %j, which Slurm does not support, and names %s', (given, flag) => {
	expect(() => {
		checkExpressible(request(given), false);
	}).toThrow(expect.objectContaining({code: 'usage', message: expect.stringContaining(flag) as string}));
});

test('checkExpressible accepts a count, a note, a model and GPUs of different models', () => {
	expect(() => {
		checkExpressible(request({note: 'x', need: {models: ['a100'], sameModel: false}}), false);
	}).not.toThrow();
});

test('shardsFor converts the memory of a share to shards', () => {
	const share = request({count: 1, need: {shareMiB: 8193}});
	expect(() => {
		checkExpressible(share, true);
	}).not.toThrow();
	expect(() => {
		checkExpressible({...share, count: 2}, true);
	}).toThrow(expect.objectContaining({code: 'usage', message: expect.stringContaining('on the same GPU') as string}));
	const node = {name: 'box1', gpus: [{type: undefined, count: 4}], usedGpus: 0, shards: 16};
	expect([1, 4096, 4097, 8193].map((memory) => shardsFor(memory, 4096, [node]))).toEqual([1, 1, 2, 3]);
	expect(() => shardsFor(1, 4096, [{...node, shards: 0}])).toThrow(expect.objectContaining({code: 'impossible'}));
	expect(requestWords(share, {waitSeconds: undefined, gres: {name: 'shard', count: 3}, name: 'x'})).toContain(
		'--gres=shard:3',
	);
});

test('typeOfProfile returns the only Slurm type that contains the MIG profile', () => {
	expect(typeOfProfile('1g.10gb', ['a100', '1g.10gb', '2g.20gb'])).toBe('1g.10gb');
	expect(typeOfProfile('1g.10gb', ['nvidia_h100_1g.10gb', 'nvidia_h100_11g.10gb'])).toBe('nvidia_h100_1g.10gb');
	expect(() => typeOfProfile('1g.10gb', ['a_1g.10gb', 'b_1g.10gb'])).toThrow(expect.objectContaining({code: 'usage'}));
	expect(() => typeOfProfile('1g.10gb', ['a100', '2g.20gb'])).toThrow(
		expect.objectContaining({code: 'impossible', hint: 'Slurm knows: 2g.20gb'}),
	);
	expect(() => typeOfProfile('1g.10gb', ['a100'])).toThrow(expect.objectContaining({code: 'impossible'}));
});

test('laterWords returns the sbatch options for dependencies, arrays and the start time', () => {
	expect(laterWords({})).toEqual([]);
	expect(laterWords({after: '17,18_3', array: '0-7%2'})).toEqual(['--dependency=afterok:17:18_3', '--array=0-7%2']);
	expect(laterWords({after: 'any:17,18'})[0]).toBe('--dependency=afterany:17:18');
	expect(laterWords({after: 'afternotok:17'})[0]).toBe('--dependency=afternotok:17');
	const seconds = new Date(2026, 4, 1, 8, 5, 9).getTime() / 1000;
	expect(laterWords({begin: seconds})).toEqual(['--begin=2026-05-01T08:05:09']);
});

test('scriptOf returns a shell script that runs exactly the given command', () => {
	fc.assert(
		fc.property(fc.array(fc.string({unit: 'binary'}).map((word) => word.replaceAll('\0', ''))), (words) => {
			const script = scriptOf(['printf', String.raw`%s\0`, ...words]);
			const printed = execFileSync('/bin/sh', ['-c', script]);
			return printed.equals(Buffer.from(`${(words.length === 0 ? [''] : words).join('\0')}\0`));
		}),
		{numRuns: isLong ? 50 : 15},
	);
});

test('typeFor returns the only Slurm type that matches the model, in upper or lower case', () => {
	expect(typeFor('A100', ['a100', 'a100-80gb', 'v100'])).toBe('a100');
	expect(typeFor('h100', ['nvidia_h100_80gb_hbm3'])).toBe('nvidia_h100_80gb_hbm3');
	expect(() => typeFor('a100', ['a100-40gb', 'a100-80gb'])).toThrow(expect.objectContaining({code: 'usage'}));
	expect(() => typeFor('h100', ['a100'])).toThrow(
		expect.objectContaining({code: 'impossible', hint: 'Slurm knows: a100'}),
	);
});

test.each([
	['salloc: error: Unable to allocate resources: Unable to contact slurm controller (connect failure)', 4],
	['error: If munged is up, restart with --num-threads=10\nerror: Munge encode failed: Failed to access "/x"', 4],
	[
		'srun: error: invalid partition specified: nope\nsrun: error: Unable to allocate resources: Invalid partition name specified',
		2,
	],
	['srun: error: Unable to allocate resources: Requested node configuration is not available', 2],
	['salloc: error: Unable to allocate resources: Requested nodes are busy', 3],
	['salloc: error: Unable to allocate resources: Immediate execution impossible, insufficient priority', 3],
	['scancel: error: Kill job error on job id 12: Access/permission denied', 1],
	['srun: fatal: Could not establish a configuration source', 4],
	['scontrol: fatal: Unable to process configuration file', 4],
	['salloc: error: Job submit/allocate failed: Required node not available (down, drained or reserved)', 3],
	['salloc: error: Job submit/allocate failed: Partition in DOWN state', 3],
	['salloc: error: Job submit/allocate failed: Required partition not available (inactive or drain)', 1],
	['salloc: error: Job submit/allocate failed: Requested partition configuration not available now', 3],
	["srun: error: Unable to allocate resources: User's group not permitted to use this partition", 2],
	['something that no version has said yet', 1],
])('the Slurm error %j leads to exit code %i', (stderr, exitCode) => {
	expect(errorOf('salloc', stderr).exitCode).toBe(exitCode);
});

test('the error for an account limit of Slurm suggests how to see the limits', () => {
	const said =
		"Job submit/allocate failed: Job violates accounting/QOS policy (job submit limit, user's size and/or time limits)";
	expect(errorOf('salloc', `salloc: error: ${said}\n`)).toMatchObject({
		exitCode: 1,
		message: expect.stringMatching(/^Slurm refuses: .*violates accounting\/QOS policy/v) as string,
		hint: expect.stringContaining('sacctmgr show') as string,
	});
});

test('a squeue without --json is reported as too old', () => {
	expect(oldVersionError(errorOf('squeue', "squeue: unrecognized option '--json'\n"))?.exitCode).toBe(4);
	expect(oldVersionError(errorOf('squeue', 'squeue: error: no'))).toBeUndefined();
});

test("clusterEnvironment within a job removes the job's own variables", () => {
	const own = {SLURM_CONF: '/x', SLURM_PARTITION: 'gpu', HOME: '/h'};
	expect(clusterEnvironment(own)).toEqual(own);
	expect(clusterEnvironment({...own, SLURM_JOB_ID: '7', SLURM_NTASKS: '4', SRUN_DEBUG: '1'})).toEqual({
		SLURM_CONF: '/x',
		HOME: '/h',
	});
});

test("submitEnvironment passes the choices of srun's variables to sbatch and salloc, unless their own variables are set", () => {
	const own = {SLURM_PARTITION: 'prio', SLURM_QOS: 'high', SBATCH_QOS: 'low', SLURM_NTASKS: '4'};
	expect(submitEnvironment('sbatch', own)).toEqual({...own, SBATCH_PARTITION: 'prio'});
	expect(submitEnvironment('salloc', own)).toEqual({...own, SALLOC_PARTITION: 'prio', SALLOC_QOS: 'high'});
	// Within a job, these variables describe the job, not the choice of the user.
	expect(submitEnvironment('sbatch', {...own, SLURM_JOB_ID: '7'})).toEqual({});
});

test('clusterEnvironment removes secrets, because Slurm passes the environment to its nodes', () => {
	expect(
		clusterEnvironment({HOME: '/x', CANHAZGPU_REDIS_PASSWORD: 'secret', CANHAZGPU_NOTIFY_WEBHOOK: 'secret'}),
	).toEqual({
		HOME: '/x',
	});
});

test('engineReasonText shows an unknown reason without control characters', () => {
	fc.assert(
		fc.property(fc.string(), (code) => {
			expect(engineReasonText(code)).not.toMatch(/\p{Control}/v);
			expect(engineReasonText(code)).not.toBe('');
		}),
		{examples: [[' ']]},
	);
});
