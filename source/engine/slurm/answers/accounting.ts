/**
`sacct --parsable2` with the columns below: jobs that have ended, as Slurm's database keeps them. Times are seconds, which SLURM_TIME_FORMAT=%s
asks for. The name comes last: it alone may hold the sign between the columns.
*/
import {countIn} from './gres.js';
import type {SlurmJob} from './jobs.js';

/** What sacct is asked for, in this order. */
export const accountingColumns = 'JobIDRaw,User,State,Submit,Start,End,AllocTRES,JobName';

/** A job that has ended. Which GPUs it had is not kept, only how many. */
export type EndedJob = Pick<
	SlurmJob,
	'id' | 'user' | 'name' | 'state' | 'stateWord' | 'submitTime' | 'startTime' | 'endTime' | 'gpus' | 'held'
>;

const secondsIn = (text: string): number | undefined =>
	/^\d{1,12}$/v.test(text) && text !== '0' ? Number(text) : undefined;

/** `cpu=2,gres/gpu:a100=2,gres/gpu=2,node=1` -> 2. The count without a type is that of all types together. */
export function gpusIn(tres: string): number {
	const counts = tres.split(',').flatMap((part) => {
		const [name = '', count] = part.split('=', 2);
		return /^gres\/gpu(?::|$)/v.test(name) ? [{isAll: name === 'gres/gpu', count: countIn(count) ?? 0}] : [];
	});
	const all = counts.find(({isAll}) => isAll);
	return all?.count ?? counts.reduce((sum, {count}) => sum + count, 0);
}

function jobOf(line: string): EndedJob | undefined {
	const [id = '', user = '', state = '', submitted = '', started = '', ended = '', tres = '', ...name] =
		line.split('|');
	const [submitTime, startTime, endTime] = [submitted, started, ended].map((each) => secondsIn(each));
	const count = gpusIn(tres);
	return /^\d{1,12}$/v.test(id) && user !== '' && submitTime !== undefined && endTime !== undefined && count > 0
		? {
				id: Number(id),
				user,
				name: name.join('|'),
				state: 'ended',
				// `CANCELLED by 1000` names who did it, too.
				stateWord: state.split(' ', 1)[0]!,
				submitTime,
				startTime,
				endTime,
				gpus: {type: undefined, count},
				held: [],
			}
		: undefined;
}

/** The jobs with GPUs that have ended, in the order of the answer. Lines that are none are left out. */
export const readAccounting = (text: string): readonly EndedJob[] =>
	text.split('\n').flatMap((line) => jobOf(line) ?? []);
