import type {App} from '../../../app/contract.js';
import type {Job} from '../../../core/model/jobs.js';
import {jobIdOf} from '../../../core/rules/jobs/ids.js';

/** The variable with the number and the token of the job, for the wrapper alone. */
export const ticketVariable = 'CANHAZGPU_DETACHED';

/** The variable with the additional environment of the command, which the wrapper itself does not use. */
export const addedVariable = 'CANHAZGPU_DETACHED_ENVIRONMENT';

export const jobIdVariable = 'CANHAZGPU_JOB_ID';
export const arrayIndexVariable = 'CANHAZGPU_ARRAY_INDEX';

export type Ticket = {readonly number: number; readonly token: string};

export function ticketOf({environment}: Pick<App, 'environment'>): Ticket | undefined {
	const {number, token} = /^(?<number>\d{1,9}):(?<token>.+)$/v.exec(environment[ticketVariable] ?? '')?.groups ?? {};
	return number === undefined || token === undefined ? undefined : {number: Number(number), token};
}

export const ticketText = ({number, token}: Ticket): string => `${number}:${token}`;

export const addedText = (variables: Readonly<Record<string, string>>): string => JSON.stringify(variables);

/** Returns the variables that were added to the environment of the command. Does not check the JSON, because only this program writes it. */
export const addedVariables = ({environment}: Pick<App, 'environment'>): Readonly<Record<string, string>> =>
	JSON.parse(environment[addedVariable] ?? '{}') as Readonly<Record<string, string>>;

/** Returns the variables for the command. A job that this job submits does not inherit them. */
export const jobVariables = (job: Job): Readonly<Record<string, string | undefined>> => ({
	[jobIdVariable]: jobIdOf(job),
	[arrayIndexVariable]: job.array === undefined ? undefined : String(job.array.index),
});
