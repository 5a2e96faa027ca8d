import {reserve as reserveGpus} from '../core/reservations.js';
import {CanhazgpuError} from '../errors.js';
import {longDuration} from '../format/durations.js';
import {refusalMessage} from '../format/refusal.js';
import type {Command, Input} from './command.js';
import {checkLabel, idsFlag, idsOf} from './flags.js';

/** `--gpus` with `--gpu-ids` is fine when it is 1, the usual default of scripts, or equals their count. */
export function countOf(input: Input, ids: readonly number[] | undefined): number {
	const count = input.config.get('reserve.gpus');
	if (ids !== undefined && count !== undefined && count !== 1 && count !== ids.length) {
		throw new CanhazgpuError('usage', `conflicting gpu count (${count}) and gpu ids (count: ${ids.length})`, {
			hint: 'Leave out --gpus: --gpu-ids says how many.',
		});
	}

	return ids?.length ?? count ?? 1;
}

export const reserve: Command = {
	name: 'reserve',
	summary: 'Reserve GPUs for a time',
	usage: '[--gpus N | --gpu-ids IDS] [--duration TIME]',
	examples: [
		['canhazgpu reserve --gpus 2 --duration 4h', 'any two GPUs for four hours'],
		['canhazgpu reserve --gpu-ids 1,3 --note "debugging"', 'these two, with a word to the others'],
		['export CUDA_VISIBLE_DEVICES=$(canhazgpu reserve --short)', 'one GPU, for this shell'],
	],
	flags: {
		gpus: {short: 'g', value: 'N', summary: 'how many GPUs (1)', setting: 'reserve.gpus'},
		'gpu-ids': idsFlag,
		duration: {short: 'd', value: 'TIME', summary: 'for how long: 30m, 2h, 1d (8h)', setting: 'reserve.duration'},
		note: {short: 'n', value: 'TEXT', summary: 'what for; everybody sees it', setting: 'reserve.note'},
		user: {
			short: 'u',
			value: 'NAME',
			summary: 'the name to show, where people share an account',
			setting: 'reserve.user',
		},
		force: {short: 'f', summary: 'also GPUs in use without a reservation, or that cannot be read'},
		nonblock: {summary: 'fail at once with exit code 3 when there are not enough'},
		short: {short: 's', summary: 'print the ids alone: 0,5'},
	},
	async run(app, input) {
		const ids = idsOf(input);
		const count = countOf(input, ids);
		const requester = app.requester(checkLabel(input.config.get('reserve.user')));
		const durationSeconds = input.config.get('reserve.duration')!;
		const world = await app.open();
		try {
			const answer = await reserveGpus(world, {
				requester,
				count,
				ids,
				durationSeconds,
				note: input.config.get('reserve.note'),
				force: input.has('force'),
			});
			if (answer.kind === 'refused') {
				const {message, hint} = refusalMessage(answer);
				throw new CanhazgpuError('unavailable', message, {hint, details: answer});
			}

			const list = answer.gpus.join(',');
			if (input.has('short')) {
				app.print(list);
			} else {
				app.print(
					`Reserved ${answer.gpus.length} GPU(s): [${answer.gpus.join(' ')}] for ${longDuration(durationSeconds)}`,
				);
				app.print(`\nTo use them here:\n  export CUDA_VISIBLE_DEVICES=${list}`);
			}

			if (world.privateLabel !== undefined) {
				app.remark(world.privateLabel);
			}

			return 0;
		} finally {
			await world.close();
		}
	},
};
