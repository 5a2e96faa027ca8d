import type {JobRow} from '../../core/rules/jobs/rows.js';
import {jobJson} from '../../format/jobs.js';
import {jobWith, type ShownCommands} from './commands.js';

export type JobJson = ReturnType<typeof jobJson>;

type Listed = {readonly rows: readonly JobRow[]; readonly now: number};

export const jobsJson = ({rows, now}: Listed, commands: ShownCommands): readonly JobJson[] =>
	rows.map((row) => jobJson(jobWith(row, commands), now));
