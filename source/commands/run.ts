import type {AcquireRequest} from '../core/rules/request/request.js';
import {CanhazgpuError, quoted} from '../errors.js';
import type {Command, Input} from '../command-line/command.js';
import {checkLabel, refuseBoth} from './shared/flag-values.js';
import {jsonFlag, usualDurations} from './shared/common-flags.js';
import {hostOf, onAnyFlag} from './shared/hosts/on-flag.js';
import {isolateFlag} from './shared/job/isolation.js';
import {numaFlag} from './shared/job/numa.js';
import {checkNotLater, laterFlags} from './shared/later-flags.js';
import {requireModelNames, strategyOf, waitSecondsOf, wantedOf, wantFlags} from './shared/request-flags.js';

/** @throws CanhazgpuError `usage` that shows what to type. */
export function commandOf({
	rest,
	words,
}: Pick<Input, 'rest' | 'words'>): readonly [command: string, ...args: readonly string[]] {
	const [command, ...args] = rest ?? [];
	if (command === undefined || command === '') {
		throw new CanhazgpuError('usage', 'run needs a command to run', {
			hint: 'For example: canhazgpu run --gpus 2 -- python train.py',
		});
	}

	if (words.length > 0) {
		throw new CanhazgpuError('usage', `run does not know what to do with ${quoted(words[0]!)} before the --`, {
			hint: 'Before -- stand flags of canhazgpu, and behind it the command: canhazgpu run --gpus 2 -- python train.py',
		});
	}

	return [command, ...args];
}

export const run: Command = {
	name: 'run',
	summary: 'Wait in the queue for GPUs, run a command on them, give them back',
	usage: '[--gpus N | --gpu-ids IDS] [--timeout TIME] -- COMMAND...',
	examples: [
		['canhazgpu run -- python train.py', 'on one GPU'],
		['canhazgpu run --gpus 2 --timeout 12h -- torchrun train.py', 'on two, stopped after twelve hours'],
		['canhazgpu run --share 8G -- python eval.py', 'on a part of a GPU, others beside it'],
		['canhazgpu run --mig 1g.10gb -- python eval.py', 'on an instance of a GPU that MIG has split'],
		['canhazgpu run --nonblock -- make bench || echo busy', 'now or not at all'],
	],
	flags: {
		...wantFlags('run'),
		timeout: {
			shortFlag: 't',
			value: 'TIME',
			summary: 'stop the command after this long',
			setting: 'run.timeout',
			completes: usualDurations,
			mayBeEmpty: true,
		},
		cuda: {value: 'VERSION', summary: 'use this CUDA, such as 12.4, of those that are installed', setting: 'run.cuda'},
		'wait-children': {
			summary: 'keep the GPUs until all processes that the command started have ended, too',
		},
		mps: {summary: 'let the MPS daemon of this account hold a share to its memory'},
		isolate: isolateFlag,
		numa: numaFlag,
		quiet: {shortFlag: 'q', summary: 'do not say on stderr which GPUs it got', setting: 'run.quiet'},
		json: {...jsonFlag, summary: 'say on stderr as a line of JSON which GPUs it got, and nothing of the waiting'},
		on: onAnyFlag,
		...laterFlags,
	},
	notes: [
		'The command gets CUDA_VISIBLE_DEVICES and runs as if typed bare. TIME is such as 30m, 2h or 1d.',
		"Exit codes: the command's own, 128 and the signal that ended it, 124 when its time was over, 127 and 126 when it cannot be run, 3 when there were not enough GPUs.",
	],
	takesWords: true,
	takesRest: true,
	async run(app, input) {
		const words = commandOf(input);
		refuseBoth(input, 'json', 'quiet');
		await requireModelNames(app, input);
		if (input.text('timeout') === '') {
			app.remark('Warning: --timeout is empty, so the command has no time limit');
		}

		const {ids, count, need} = wantedOf(input, 'run');
		const strategy = strategyOf(input, 'run');
		let waitSeconds = waitSecondsOf(input, 'run');
		const wish = (): AcquireRequest => ({
			requester: app.requester(checkLabel(input.config.get('run.user'))),
			count,
			ids,
			need,
			strategy,
			tenure: {type: 'run', timeLimitSeconds: input.config.get('run.timeout')},
			note: input.config.get('run.note'),
		});
		const engine = await app.foreignEngine();
		if (engine !== undefined) {
			const {runOnEngine} = await import('./shared/run-on-engine.js');
			return runOnEngine(app, engine, input, {request: {...wish(), host: hostOf(input)}, words, waitSeconds});
		}

		checkNotLater(input);
		if (input.has('on')) {
			const {acquireElsewhere} = await import('./shared/hosts/on-host.js');
			const outcome = await acquireElsewhere(app, input, {
				command: run,
				wanted: {count, ids, need},
				waitSeconds,
				keepsDirectory: true,
			});
			if (!outcome.isHere) {
				return outcome.exitCode;
			}

			({waitSeconds} = outcome);
		}

		const {runHere} = await import('./shared/job/run-here.js');
		return runHere(app, input, {request: wish(), words, waitSeconds});
	},
};
