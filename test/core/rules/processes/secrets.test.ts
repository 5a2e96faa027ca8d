import {expect, test} from 'vitest';
import {maskSecrets, maskWords} from '../../../../source/core/rules/processes/secrets.js';
import {decodeSharedScan, encodeSharedScan} from '../../../../source/core/rules/pool/shared-scan.js';
import {jobRows} from '../../../../source/core/rules/jobs/rows.js';
import {modelOf, modelOfCommand} from '../../../../source/core/rules/processes/served-model.js';
import {job, listOf} from '../jobs/_jobs.js';
import {cpuMsOf} from '../../../_helpers/program/timed.js';
import {idleReading, observationOf} from '../../../_helpers/world.js';

/** A text that must never appear in the output. */
const secret = 'S3cretValue0123456789';

test.each([
	[`eval.py --hf-token ${secret} --n 1`, 'eval.py --hf-token *** --n 1'],
	[`eval.py --api-key=${secret} --n 1`, 'eval.py --api-key=*** --n 1'],
	[`eval.py --API_KEY ${secret}`, 'eval.py --API_KEY ***'],
	[`eval.py --hfToken  ${secret}`, 'eval.py --hfToken  ***'],
	[`eval.py -password ${secret}`, 'eval.py -password ***'],
	[`eval.py --client.secret ${secret} --db-passwd ${secret}`, 'eval.py --client.secret *** --db-passwd ***'],
	[`env HF_TOKEN=${secret} python a.py`, 'env HF_TOKEN=*** python a.py'],
	[`train.py +logger.wandb_api_key=${secret} lr=1`, 'train.py +logger.wandb_api_key=*** lr=1'],
	[
		`lm_eval --model_args pretrained=a/b,token=${secret},dtype=auto`,
		'lm_eval --model_args pretrained=a/b,token=***,dtype=auto',
	],
	[`get https://host/x?api_key=${secret}&n=1`, 'get https://host/x?api_key=***&n=1'],
	[`serve --config {"api_key": "${secret}","n":1}`, 'serve --config {"api_key": "***","n":1}'],
	[`curl -H Authorization: Bearer ${secret} x`, 'curl -H Authorization: Bearer *** x'],
	[`curl -H x-api-key: ${secret}`, 'curl -H x-api-key: ***'],
	[`git clone https://user:${secret}@host/a.git`, 'git clone https://***@host/a.git'],
	[`worker redis://:${secret}@box:6379/0`, 'worker redis://***@box:6379/0'],
	['a.py hf_AbCdEfGhIjKlMnOpQrStUvWxYz012345', 'a.py ***'],
	['a.py x=sk-proj-Ab12_cdEf34', 'a.py x=***'],
	['a.py ghp_0123456789abcdefABCDEF', 'a.py ***'],
	['a.py (AKIAIOSFODNN7EXAMPLE)', 'a.py (***)'],
	['a.py github_pat_11ABC_def glpat-abc123456 xoxb-1-2-abc', 'a.py *** *** ***'],
])('maskSecrets masks the secret in: %s', (commandLine, masked) => {
	expect(maskSecrets(commandLine)).toBe(masked);
	expect(maskSecrets(masked)).toBe(masked);
});

test.each([
	'vllm serve meta-llama/Llama-3-70B --max-tokens 512 --tokenizer a/b --eos-token-id 2',
	'python train.py --num-key-value-heads 8 --config keys.yaml --token-file /run/secret.txt',
	'python /home/ada/hf_models/task-sk-learn/disk-1/run.py --hf-token --n 2',
	'python -m http.server https://host:8080/path/a@b',
	'sshd: ada@pts/0',
])('maskSecrets does not change: %s', (commandLine) => {
	expect(maskSecrets(commandLine)).toBe(commandLine);
});

test('maskSecrets masks a very long word in less than half a second', () => {
	const took = cpuMsOf(() => {
		for (const part of ['-token', 'a-key=', 'https://a', 'eyJa.', 'secret: ', '--key ', 'bearer ']) {
			maskSecrets(part.repeat(4096 / part.length));
		}
	});
	expect(took).toBeLessThan(500);
});

test('neither a shared scan nor a model name contains a secret of a command line', () => {
	const line = `python serve.py --model s3://key:${secret}@host/model --api-key ${secret}`;
	const processes = [{pid: 1, commandLine: line, ancestors: [line]}];
	const posted = encodeSharedScan(observationOf([{...idleReading(0), processes}]))!;
	expect(posted).not.toContain(secret);
	expect(modelOfCommand(line)).toEqual({model: 's3://***@host/model', provider: 's3:'});
	expect(decodeSharedScan(posted)?.gpus[0]?.processes?.[0]?.commandLine).toContain('--api-key ***');
	expect(modelOf(processes)).toEqual({provider: 's3:', model: 's3://***@host/model'});
});

test.each([
	[
		['eval.py', '--password', 'correct horse battery', '--n', '1'],
		['eval.py', '--password', '***', '--n', '1'],
	],
	[
		['eval.py', '--password=S3cret!pass word'],
		['eval.py', '--password=***'],
	],
	[
		['env', 'DB_PASSWORD=hunter2$', 'true'],
		['env', 'DB_PASSWORD=***', 'true'],
	],
	[
		['eval.py', '--token', '--n'],
		['eval.py', '--token', '--n'],
	],
	[
		['git', 'clone', `https://user:${secret}@host/a.git`],
		['git', 'clone', 'https://***@host/a.git'],
	],
	[
		['sh', '-c', 'echo --max-tokens 512'],
		['sh', '-c', 'echo --max-tokens 512'],
	],
])('maskWords masks the secrets in %j', (words, masked) => {
	expect(maskWords(words)).toEqual(masked);
});

test.each(['S3cret!pass', 'one two', "it's", 'a$b&c~d#e*f'])(
	'jobRows hides the password %s from other accounts',
	(password) => {
		const command = ['a.py', `--password=${password}`, '--token', password, 'bearer', secret, '--name', 'a b'];
		const [row] = jobRows(listOf(job(1, {account: 'ada', command})), {account: 'bob', isAll: true});
		expect(row?.command).toBe("a.py --password=*** --token *** bearer *** --name 'a b'");
	},
);
