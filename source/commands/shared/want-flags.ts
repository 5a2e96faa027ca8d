/** What `run` and `reserve` have in common on the command line: how many GPUs of which kind, and how long to wait. */
import {CanhazgpuError} from '../../errors.js';
import type {Flags, Input} from '../../command-line/command.js';
import type {Need} from '../../core/model/types.js';
import {idsFlag, namedPartsOf, usualDurations} from '../../command-line/flags.js';
import {instanceNeedOf, needFlags, needOf, needOfInstances} from './need-flags.js';

/** The flags by which both say what they want. */
export const wantFlags = (verb: 'run' | 'reserve'): Flags => ({
	gpus: {short: 'g', value: 'N', summary: 'how many GPUs (1)', setting: `${verb}.gpus`},
	'gpu-ids': idsFlag('parts'),
	...needFlags(verb),
	note: {short: 'n', value: 'TEXT', summary: 'what for; everybody sees it', setting: `${verb}.note`, mayBeEmpty: true},
	user: {
		short: 'u',
		value: 'NAME',
		summary: 'the name to show, where people share an account',
		setting: `${verb}.user`,
		mayBeEmpty: true,
		completes: 'labels',
	},
	nonblock: {
		summary: 'do not wait in the queue: exit 3 at once when there are not enough',
		setting: `${verb}.nonblock`,
	},
	wait: {
		short: 'w',
		value: 'TIME',
		summary: 'give up after this long in the queue, with exit code 3',
		setting: `${verb}.wait`,
		mayBeEmpty: true,
		completes: usualDurations,
	},
});

/**
What `run` and `reserve` are asked for.

@throws CanhazgpuError `usage` for flags that contradict each other.
*/
export function wantedOf(
	input: Input,
	verb: 'run' | 'reserve',
): {readonly ids: readonly number[] | undefined; readonly count: number; readonly need: Need | undefined} {
	const named = namedPartsOf(input);
	const mig = instanceNeedOf(input, named);
	const ids = mig === undefined ? (named?.ids ?? input.config.get(`${verb}.gpu-ids`)) : undefined;
	const count = countOf(input, `${verb}.gpus`, mig !== undefined && 'instances' in mig ? mig.instances : ids);
	return {ids, count, need: mig === undefined ? needOf(input, verb, {count, ids}) : needOfInstances(input, verb, mig)};
}

/** What the GPUs are asked for besides: their instances take long to read, and only who wants one waits for that. */
export const detailsFor = (need: Need | undefined): 'parts' | undefined =>
	need?.mig === undefined ? undefined : 'parts';

/** `--gpus` with `--gpu-ids` is fine when it is 1, the usual default of scripts, or equals their count. */
export function countOf(
	input: Input,
	setting: 'run.gpus' | 'reserve.gpus',
	ids: readonly unknown[] | undefined,
): number {
	const count = input.config.get(setting);
	if (ids !== undefined && count !== undefined && count !== 1 && count !== ids.length) {
		throw new CanhazgpuError('usage', `conflicting gpu count (${count}) and gpu ids (count: ${ids.length})`, {
			hint: 'Leave out --gpus: --gpu-ids says how many.',
		});
	}

	return ids?.length ?? count ?? 1;
}

/**
Seconds to wait in the queue; 0 not at all, undefined for as long as it takes. What is typed counts more than what a config file says, and
`--nonblock` more than `--wait`.
*/
export function waitSecondsOf(input: Input, verb: 'run' | 'reserve'): number | undefined {
	const waits = input.has('wait') && !input.has('nonblock');
	return input.config.get(`${verb}.nonblock`) === true && !waits ? 0 : input.config.get(`${verb}.wait`);
}
