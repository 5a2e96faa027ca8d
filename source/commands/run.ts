import type {AcquireRequest} from '../core/rules/request/request.js';
import {CanhazgpuError, quoted} from '../errors.js';
import type {Command, Input} from '../command-line/command.js';
import {checkLabel, refuseBoth} from './shared/flag-values.js';
import {jsonFlag, usualDurations} from './shared/common-flags.js';
import {hostOf, onAnyFlag} from './shared/hosts/on-flag.js';
import {isolateFlag} from './shared/job/isolation.js';
import {numaFlag} from './shared/job/numa.js';
import {ticketOf} from './shared/job/ticket.js';
import {laterFlags, localLaterOf} from './shared/later-flags.js';
import {detailsFor, requireModelNames, strategyOf, waitSecondsOf, wantedOf, wantFlags} from './shared/request-flags.js';

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
		throw new CanhazgpuError('usage', `run does not take the argument ${quoted(words[0]!)} before the --`, {
			hint: 'Flags of canhazgpu go before --, and the command after it: canhazgpu run --gpus 2 -- python train.py',
		});
	}

	return [command, ...args];
}

export const run: Command = {
	name: 'run',
	summary: 'Wait for GPUs, run a command on them, and release them',
	usage: '[--gpus N | --gpu-ids IDS] [--timeout TIME] -- COMMAND...',
	examples: [
		['canhazgpu run -- python train.py', 'on one GPU, waiting for it if necessary'],
		['canhazgpu run --gpus 2 --timeout 12h -- torchrun train.py', 'on two GPUs, for at most twelve hours'],
		['canhazgpu run --share 8G -- python eval.py', 'on 8 GiB of a GPU, sharing the rest'],
		['canhazgpu run --mig 1g.10gb -- python eval.py', 'on a MIG instance'],
		['canhazgpu run --nonblock -- make bench || echo busy', 'only if a GPU is free now'],
	],
	flags: {
		...wantFlags('run'),
		timeout: {
			shortFlag: 't',
			value: 'TIME',
			summary: 'stop the command after this time',
			setting: 'run.timeout',
			completes: usualDurations,
			mayBeEmpty: true,
		},
		cuda: {value: 'VERSION', summary: 'use this installed version of CUDA, such as 12.4', setting: 'run.cuda'},
		'wait-children': {
			summary: 'keep the GPUs until all child processes have ended',
		},
		notify: {summary: 'notify you when the command has ended: its exit code, duration and GPUs'},
		mps: {summary: 'enforce --share with your MPS daemon'},
		isolate: isolateFlag,
		numa: numaFlag,
		quiet: {shortFlag: 'q', summary: "don't print the reserved GPU ids", setting: 'run.quiet'},
		json: {...jsonFlag, summary: 'print a line of JSON about the reserved GPUs on stderr, instead of progress lines'},
		on: onAnyFlag,
		...laterFlags,
	},
	notes: [
		'The command runs with CUDA_VISIBLE_DEVICES set to its GPUs. SIZE is written as 8G or 512M, and TIME as 30m, 2h or 1d.',
		"Exit codes: the command's own; 128 plus the signal that ended it; 124 after --timeout; 126 or 127 if it cannot be run; 3 if there were not enough GPUs.",
	],
	takesWords: true,
	takesRest: true,
	secondsElsewhere: 'unlimited',
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

		const later = localLaterOf(input);
		const ticket = ticketOf(app);
		if (ticket !== undefined) {
			const {runDetached} = await import('./shared/detached/run-detached.js');
			return runDetached(app, input, {request: wish(), words, waitSeconds}, ticket);
		}

		// Each host has its own jobs.
		const ofOneHost = (['detach', 'after'] as const).find((flag) => input.has(flag));
		if (input.text('on') === 'any' && ofOneHost !== undefined) {
			throw new CanhazgpuError('usage', `--${ofOneHost} needs a named host, so it cannot be combined with --on any`, {
				hint: 'Name the host: --on HOST. To compare the hosts: canhazgpu status --all',
			});
		}

		if (input.has('on')) {
			const {acquireElsewhere} = await import('./shared/hosts/acquire-elsewhere.js');
			const outcome = await acquireElsewhere(app, input, {
				command: run,
				wanted: {count, ids, need},
				waitSeconds,
				begin: later.begin,
				keepsDirectory: true,
			});
			if (!outcome.isHere) {
				return outcome.exitCode;
			}

			({waitSeconds} = outcome);
		}

		const cuda = input.config.get('run.cuda');
		if (cuda !== undefined && ['detach', 'after', 'begin'].some((flag) => input.has(flag))) {
			// Refuses a version that is not installed now, not when the command starts.
			await app.prepareCuda(cuda);
		}

		if (input.has('detach')) {
			const {submitDetached} = await import('./shared/detached/submit.js');
			return submitDetached(app, input, {command: run, request: wish(), words, later});
		}

		if (input.has('after') || input.has('begin')) {
			const [{awaitTurn}] = await Promise.all([
				import('./shared/detached/await-turn.js'),
				// An upgrade can remove the files of the program during the wait.
				import('./shared/job/run-here.js'),
				app.loadAhead(detailsFor(need)),
			]);
			const exitCode = await awaitTurn(app, wish(), later);
			if (exitCode !== undefined) {
				return exitCode;
			}
		}

		const {runHere} = await import('./shared/job/run-here.js');
		return runHere(app, input, {request: wish(), words, waitSeconds});
	},
};
