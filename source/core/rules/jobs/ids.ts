import type {Job} from '../../model/jobs.js';

type Named = Pick<Job, 'number' | 'array'>;

/** Returns the id that people type: `7`, or `7_3` for index 3 of array 7. */
export const jobIdOf = ({number, array}: Named): string =>
	array === undefined ? String(number) : `${array.id}_${array.index}`;

export const isJobId = (text: string): boolean => /^[1-9]\d{0,8}(?:_\d{1,9})?$/v.test(text);

export const jobsNamed = <Each extends Named>(jobs: readonly Each[], id: string): readonly Each[] =>
	jobs.filter((job) => jobIdOf(job) === id || String(job.array?.id) === id);
