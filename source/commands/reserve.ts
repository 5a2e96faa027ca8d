import {doubtAbout} from '../core/rules/leases/ownership.js';
import {usualDurationSeconds, type AcquireRequest} from '../core/rules/request/request.js';
import {grantJson} from '../format/json/change-json.js';
import {otherIdsText, placeText, useLines} from '../format/engine/engine-text.js';
import {harmlessJson} from '../format/text/json.js';
import {sizeText} from '../core/rules/request/memory-size.js';
import {setDuration, typedDuration} from '../format/text/durations.js';
import {devicesText, partsText} from '../format/instances.js';
import {sanitize} from '../format/text/text.js';
import type {Command} from '../command-line/command.js';
import {checkLabel, refuseBoth} from './shared/flag-values.js';
import {jsonFlag, usualDurations} from './shared/common-flags.js';
import {keepFlag, keepSecondsOf, keepsNothing} from './shared/keep-flag.js';
import {acquireShown} from './shared/acquire.js';
import {detailsFor, requireModelNames, strategyOf, waitSecondsOf, wantedOf, wantFlags} from './shared/request-flags.js';
import {hostOf, onAnyFlag, runOnNamedHost} from './shared/hosts/on-flag.js';
import {reserveForProcess} from './adopt.js';
import {acquireWhileAlive, keeperOf, keeperPidOf} from './while-pid.js';
import {createBackground} from './shared/background.js';

const shareText = (shareMiB: number | undefined): string =>
	shareMiB === undefined ? '' : ` (a share of ${sizeText(shareMiB)}; the limit is not enforced)`;

const keptText = (keepSeconds: number | undefined, durationSeconds: number): string =>
	keepSeconds === undefined
		? ''
		: keepSeconds < durationSeconds
			? `, kept for ${typedDuration(keepSeconds)} even if idle`
			: ', kept for all this time even if idle';

export const reserve: Command = {
	name: 'reserve',
	summary: 'Reserve GPUs for a limited time, waiting in the queue if necessary',
	usage: '[--gpus N | --gpu-ids IDS] [--duration TIME | --while-pid PID] | --pid PID',
	examples: [
		['canhazgpu reserve --gpus 2 --duration 4h', 'any two GPUs for four hours'],
		['canhazgpu reserve --gpu-ids 1,3 --note "debugging"', 'GPUs 1 and 3, with a note for other users'],
		['canhazgpu reserve --share 20G', '20 GiB of a GPU, sharing the rest'],
		['canhazgpu reserve --mig 3g.40gb', 'a MIG instance'],
		['canhazgpu reserve --while-pid $$', 'one GPU, until this shell or CI job ends'],
		['canhazgpu reserve --pid 12345', 'the GPUs that this process is using, until it ends'],
		['export CUDA_VISIBLE_DEVICES=$(canhazgpu reserve --short)', 'one GPU, for this shell'],
	],
	flags: {
		...wantFlags('reserve'),
		duration: {
			shortFlag: 'd',
			value: 'TIME',
			summary: 'reserve for this time, such as 30m, 2h or 1d (default: 8h, or what the policy sets)',
			setting: 'reserve.duration',
			mayBeEmpty: true,
			completes: usualDurations,
		},
		keep: keepFlag,
		force: {
			shortFlag: 'f',
			summary: 'also take GPUs that are in use without a reservation or cannot be read',
			setting: 'reserve.force',
		},
		short: {shortFlag: 's', summary: 'print only the GPU ids, such as 0,5', setting: 'reserve.short'},
		json: jsonFlag,
		'while-pid': {value: 'PID', summary: 'keep the GPUs for as long as this process of yours runs'},
		pid: {value: 'PID', summary: 'reserve the GPUs that this process is using, until it ends (for its owner or root)'},
		on: onAnyFlag,
	},
	notes: [
		'SIZE is written as 8G or 512M, and TIME as 30m, 2h, 1d or 1h30m. Without --nonblock and --wait, reserve waits in the queue as long as necessary.',
	],
	secondsElsewhere: 'unlimited',
	async run(app, input) {
		refuseBoth(input, 'json', 'short');
		refuseBoth(
			input,
			'keep',
			'pid',
			'A reservation for a process lasts until the process ends, even if the GPUs are idle.',
		);
		const keepSeconds = keepSecondsOf(input);
		if (input.has('pid')) {
			return (await runOnNamedHost(app, input, reserve)) ?? reserveForProcess(app, input);
		}

		await requireModelNames(app, input);
		const {ids, count, need} = wantedOf(input, 'reserve');
		const strategy = strategyOf(input, 'reserve');
		let waitSeconds = waitSecondsOf(input, 'reserve');
		const engine = await app.foreignEngine();
		if (keepSeconds !== undefined && engine !== undefined) {
			throw keepsNothing();
		}

		const keeperPid = keeperPidOf(input, engine);
		if (input.has('on') && engine === undefined) {
			const {acquireElsewhere} = await import('./shared/hosts/acquire-elsewhere.js');
			const wanted = {count, ids, need};
			const outcome = await acquireElsewhere(app, input, {command: reserve, wanted, waitSeconds});
			if (!outcome.isHere) {
				return outcome.exitCode;
			}

			({waitSeconds} = outcome);
		}

		const label = checkLabel(input.config.get('reserve.user'));
		// If this is undefined, the policy decides how long the reservation lasts.
		const asked = input.config.isGiven('reserve.duration') ? input.config.get('reserve.duration') : undefined;
		const world = await app.open({willScan: true, details: detailsFor(need), keepReconnecting: waitSeconds !== 0});
		const interruption = app.interruption();
		app.outliveBugs(createBackground(app.remark).failed);
		try {
			const requester = app.requester(label);
			const keeper = keeperPid === undefined ? undefined : await keeperOf(app, world, keeperPid);
			const request: AcquireRequest = {
				requester,
				count,
				ids,
				need,
				strategy,
				tenure:
					keeper === undefined
						? {type: 'manual', durationSeconds: asked, keepSeconds}
						: {type: 'run', job: keeper.process},
				note: input.config.get('reserve.note'),
				force: input.config.get('reserve.force'),
				host: engine === undefined ? undefined : hostOf(input),
			};
			const answer = await (keeper === undefined
				? acquireShown(app, world, request, {waitSeconds, interruption})
				: acquireWhileAlive(app, world, keeper, {request, waitSeconds, interruption}));
			if (answer.kind === 'interrupted') {
				return answer.exitCode;
			}

			const {gpus, instances, place, leaseId, durationSeconds = asked ?? usualDurationSeconds} = answer;
			// The list is for programs, which find a MIG instance only by its UUID. The sentence below shows its name to people. On a cluster,
			// the list has the ids that `release` takes, because the ids on the node could name GPUs of another reservation.
			const list = devicesText(gpus, instances);
			const where = place === undefined ? '' : ` (${placeText(place)}Slurm job ${leaseId})`;
			const time = keeper === undefined ? `for ${setDuration(durationSeconds)}` : `while ${keeper.name} runs`;
			const reserved = `Reserved ${partsText(gpus, instances)} ${time}`;
			const done = `${reserved} anyway. To release it: canhazgpu release --lease ${leaseId}`;
			if (input.has('json')) {
				app.print(harmlessJson({...grantJson(answer, request), pid: keeperPid}), done);
			} else if (input.config.get('reserve.short') === true) {
				app.print(list, done);
				const otherIds = otherIdsText(answer);
				if (otherIds !== undefined) {
					app.remark(otherIds);
				}
			} else {
				// Scripts written for the Go program expect a line that starts with `export CUDA_VISIBLE_DEVICES=`.
				const use = useLines(answer, app.host.hostname).join('\n');
				// Prints everything in one write, for readers that stop after the first line.
				app.print(
					`${reserved}${keptText(keepSeconds, durationSeconds)}${shareText(need?.shareMiB)}${where}\n\n${use}`,
					done,
				);
			}

			if (answer.isBeyondLimit === true) {
				app.remark(
					'These GPUs are beyond your limit. If somebody else has to wait for GPUs, you get a warning before this reservation ends.',
				);
			}

			if (world.privateLabel !== undefined) {
				app.remark(world.privateLabel);
			}

			const doubt = doubtAbout(requester);
			if (doubt !== undefined) {
				app.remark(`Held by ${sanitize(requester.account)}. ${doubt}`);
			}

			return 0;
		} finally {
			interruption.end();
			await world.close();
		}
	},
};
