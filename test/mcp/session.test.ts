/** The session in the help topic `agents` is a real one. */
import {execFile} from 'node:child_process';
import {readFileSync} from 'node:fs';
import {promisify} from 'node:util';
import {expect, test} from 'vitest';
import {account} from '../_helpers/program/cli.js';
import {freshEmbeddedBox} from '../_helpers/program/processes.js';
import {eventually} from '../_helpers/eventually.js';
import {connect} from './_client.js';

/* eslint-disable-next-line @typescript-eslint/strict-void-return -- promisify knows this function */
const execute = promisify(execFile);

const topic = readFileSync(new URL('../../source/help/agents.md', import.meta.url), 'utf8');

/** Replaces what differs from run to run. */
const lasting = (text: string): string =>
	text
		.replaceAll(account, 'alice')
		.replaceAll(/[\da-f]{8}-[\d\-a-f]{27}/gv, '3f2a')
		.replaceAll(/\b\d+MB of 81559MB/gv, '198MB of 81559MB')
		.replaceAll(/PID \d+/gv, 'PID 4711')
		.replaceAll(/0h 59m \d+s/gv, '1h 0m 0s');

test('the example session in the help topic agents matches the real answers', async () => {
	const box = await freshEmbeddedBox(2);
	await box.run('reserve --gpus 2 --duration 1h --user bob');
	const agent = await connect(box);
	const lines: string[] = [];
	const call = async (tool: string, input: Readonly<Record<string, unknown>> = {}): Promise<string> => {
		lines.push(`> ${tool} ${JSON.stringify(input)}`);
		const {words} = await agent.call(tool, input, {
			onprogress({message = ''}) {
				lines.push(message);
			},
		});
		lines.push(words);
		return words;
	};

	await call('gpu_status');
	const reserving = call('gpu_reserve', {wait_seconds: 600, note: 'fine-tune'});
	await eventually(() => lines.some((line) => line.startsWith('Waiting for 1 GPU')));
	await box.run('release --user bob --gpu-ids 0');
	const visible = /CUDA_VISIBLE_DEVICES=(?<ids>\S+)$/v.exec(await reserving)!.groups!['ids']!;
	const job = 'sh -c \'echo "fine-tuning on GPU $CUDA_VISIBLE_DEVICES"\'';
	const {stdout} = await execute('sh', ['-c', `CUDA_VISIBLE_DEVICES=${visible} ${job}`]);
	lines.push(`$ CUDA_VISIBLE_DEVICES=${visible} ${job}`, stdout.trim());
	await call('gpu_release');
	const recorded = /## A session\n.*?```text\n(?<session>.*?)\n```/sv.exec(topic)!.groups!['session'];
	expect(lasting(lines.join('\n'))).toBe(recorded);
});
