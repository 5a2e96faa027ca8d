import * as v from 'valibot';
import {parseHold} from '../../core/rules/leases/durations.js';
import {CanhazgpuError} from '../../errors.js';
import {counted} from '../../format/text/numbers.js';
import {longDuration} from '../../format/text/durations.js';
import {sanitize} from '../../format/text/text.js';
import {text} from '../input.js';
import {defineTool} from '../tool.js';
import {wantedFields, wantedOf} from './request.js';

/** Maximum length of a word. The core also limits the length of the whole command. */
const longestWordBytes = 100_000;
const mostWords = 4096;
const mostVariables = 256;

const word = v.pipe(
	v.string(),
	v.maxBytes(longestWordBytes),
	v.check((given) => given.isWellFormed(), 'It must be well-formed Unicode'),
);

const command = v.pipe(
	v.array(word),
	v.minLength(1),
	v.maxLength(mostWords),
	v.check(([program]) => program !== '', 'The first word is the program, and must not be empty'),
	v.description(
		'the program and its arguments as separate strings: ["python", "train.py"]. They are not passed to a shell. To use a shell: ["sh", "-c", "..."].',
	),
);

const variables = v.pipe(
	v.record(
		v.pipe(v.string(), v.regex(/^[A-Z_a-z]\w{0,127}$/v, 'A name must consist of letters, digits and _')),
		v.pipe(
			v.string(),
			v.maxBytes(32_768),
			v.check((given) => given.isWellFormed(), 'It must be well-formed Unicode'),
		),
	),
	v.check((given) => Object.keys(given).length <= mostVariables, `There can be at most ${mostVariables} variables`),
	v.description('variables to add to the environment of the server, such as {"WANDB_MODE": "offline"}'),
);

export const run = defineTool({
	name: 'gpu_run',
	title: 'Run a job on GPUs',
	description:
		'Submits a command as a job with GPUs of its own, and returns its job id at once. The job waits in the queue, runs with CUDA_VISIBLE_DEVICES set, and releases its GPUs when it ends. It continues when you disconnect, until it ends, reaches its timeout or is cancelled with gpu_cancel. See its state with gpu_job and its output with gpu_logs.',
	input: v.strictObject({
		command,
		...wantedFields,
		timeout: text('the command is stopped after this time, such as 30m, 2h or 1d'),
		note: v.optional(text('a note on what the job is for, which everyone can see')),
		cwd: v.optional(text('the directory where the command starts. The default is the directory of the server.')),
		env: v.optional(variables, {}),
	}),
	output: 'run-detach',
	isReadOnly: false,
	async call({world, requester, via, jobs, signal}, {command: words, timeout, note, cwd, env, ...wanted}) {
		const [program = '', ...args] = words;
		const seconds = parseHold(timeout, 'timeout');
		const {count, ids, need} = wantedOf(wanted);
		const {id, json, remarks} = await jobs.submit(world, {
			request: {
				requester,
				count,
				ids,
				need,
				tenure: {type: 'run', timeLimitSeconds: seconds},
				note: note === undefined || note.trim() === '' ? undefined : note,
				via,
			},
			wanted,
			command: [program, ...args],
			timeout,
			directory: cwd,
			variables: env,
		});
		if (signal.aborted) {
			// The client no longer waits for the answer, so it would not know about the job.
			await jobs.cancel(world, {requester, id, via, signal});
			throw new CanhazgpuError('unavailable', 'The call was cancelled, and so was its job');
		}

		const what = need?.mig === undefined ? 'GPU' : 'MIG instance';
		return {
			json,
			words: [
				`Submitted job ${id}, which waits for ${counted(count, what)} and then runs for at most ${longDuration(seconds)}. It continues when this connection ends. Its state: gpu_job. Its output: gpu_logs.`,
				...remarks.map((remark) => sanitize(remark)),
			].join(' '),
		};
	},
});
