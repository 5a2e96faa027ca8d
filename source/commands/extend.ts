import {doubtAbout} from '../core/rules/leases/ownership.js';
import {extend as extendLeases, type ExtendChange} from '../core/operations/reservations.js';
import {CanhazgpuError} from '../errors.js';
import {extendJson} from '../format/json/change-json.js';
import {harmlessJson} from '../format/text/json.js';
import {longDuration} from '../format/text/durations.js';
import {clockTime} from '../format/text/days.js';
import {beyondLimitText, idleText, keptText} from '../format/idle-text.js';
import {gpuList} from '../format/text/gpu-list.js';
import {partName, partsOfHoldings} from '../format/instances.js';
import {notYoursError} from '../format/owner.js';
import type {Command, Input} from '../command-line/command.js';
import {idsFlag, jsonFlag, labelFlag, usualDurations} from './shared/common-flags.js';
import {keepFlag, keepSecondsOf} from './shared/keep-flag.js';
import {namedPartsOf, refuseBoth} from './shared/flag-values.js';
import {onFlag, runOnNamedHost} from './shared/hosts/on-flag.js';
import {checkLeft, leaseFlag, meantLeases, nothingFoundText, remarkMissing} from './shared/meant-leases.js';
import {parseTimeOfDay} from './shared/time-of-day.js';
import {withWorld} from './shared/with-world.js';

function changeOf(input: Input): ExtendChange {
	const until = input.text('until');
	const by = input.config.get('extend.duration');
	const keepSeconds = keepSecondsOf(input);
	refuseBoth(input, 'duration', 'until');
	if (until !== undefined) {
		return {until: parseTimeOfDay(until), keepSeconds};
	}

	if (keepSeconds !== undefined && !input.has('duration')) {
		return {atLeast: keepSeconds, keepSeconds};
	}

	if (by === undefined) {
		throw new CanhazgpuError('usage', 'extend needs --duration, --until or --keep', {
			hint: 'For example: canhazgpu extend --duration 2h',
		});
	}

	return {by, keepSeconds};
}

export const extend: Command = {
	name: 'extend',
	summary: 'Extend or shorten your manual reservations',
	usage: '[--gpu-ids IDS] [--lease ID] (--duration TIME | --until WHEN | --keep TIME)',
	examples: [
		['canhazgpu extend --duration 2h', 'two more hours for all your reservations'],
		['canhazgpu extend --gpu-ids 1 --until 18:30', 'GPU 1 until 18:30'],
		['canhazgpu extend --keep 2h', 'keep your GPUs for two hours even if they are idle'],
	],
	flags: {
		'gpu-ids': idsFlag('timed-gpus'),
		duration: {
			shortFlag: 'd',
			value: 'TIME',
			summary: 'add this time, such as 30m, 2h or 1d',
			setting: 'extend.duration',
			completes: usualDurations,
		},
		until: {value: 'WHEN', summary: 'end at this time, such as 18:30 or 2026-05-01T18:30'},
		keep: keepFlag,
		user: labelFlag,
		lease: leaseFlag,
		json: jsonFlag,
		on: onFlag,
	},
	notes: ['To extend reservations made with --user NAME, give the same flag or their GPU ids.'],
	async run(app, input) {
		const exitCode = await runOnNamedHost(app, input, extend);
		if (exitCode !== undefined) {
			return exitCode;
		}

		const named = namedPartsOf(input);
		const {label, selectionOf} = meantLeases(input, named);
		const change = changeOf(input);
		return withWorld(app, {}, async (world) => {
			const requester = app.requester(label);
			const selection = selectionOf(requester);
			const {extended, notYours, notTimed, now} = await extendLeases(world, requester, selection, change);
			if (notYours.length > 0) {
				throw notYoursError('extend', notYours, requester);
			}

			if (notTimed.length > 0) {
				throw new CanhazgpuError(
					'failed',
					`${gpuList(notTimed)} ${notTimed.length === 1 ? 'is' : 'are'} held by a running job, which has no end time to extend`,
					{
						hint: 'The GPU is released when the job ends.',
					},
				);
			}

			checkLeft(selection, extended);
			if (extended.length === 0) {
				throw new CanhazgpuError('not-found', nothingFoundText(named), {
					hint: doubtAbout(requester) ?? 'See who holds what: canhazgpu status',
				});
			}

			if (input.has('json')) {
				app.print(harmlessJson(extendJson(extended, named, now)));
				return 0;
			}

			app.print(`Extended ${partsOfHoldings(extended)}`);
			for (const {expiryTime, keepUntil, warning, beyondLimit, ...holding} of extended) {
				const words = [
					`expires in ${longDuration(expiryTime - now)}`,
					keepUntil === undefined ? undefined : keptText(keepUntil, (time) => clockTime(time, now)),
					warning && `but ${idleText(warning, now)}`,
					beyondLimit?.deadline === undefined ? undefined : `but ${beyondLimitText(beyondLimit, now)}`,
				];
				app.print(`${partName(holding)} ${words.filter((each) => each !== undefined).join(', ')}`);
			}

			if (extended.some(({warning}) => warning !== undefined)) {
				app.remark('To keep the idle GPUs: canhazgpu extend --keep 30m');
			}

			remarkMissing(app, named, extended);

			return 0;
		});
	},
};
