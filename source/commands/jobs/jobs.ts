import {engineText} from '../../format/engine/engine-text.js';
import {jobJson, jobsTable} from '../../format/jobs.js';
import {harmlessJson} from '../../format/text/json.js';
import {sanitize} from '../../format/text/text.js';
import type {Command} from '../../command-line/command.js';
import {jsonFlag} from '../shared/common-flags.js';
import {onFlag, runOnNamedHost} from '../shared/hosts/on-flag.js';
import {withWorld} from '../shared/with-world.js';
import {listJobs} from './list-jobs.js';

export const jobs: Command = {
	name: 'jobs',
	summary: 'Show jobs submitted with run --detach',
	usage: '[--all] [--json]',
	examples: [
		['canhazgpu jobs', 'your waiting and running jobs, and those that ended in the last day'],
		['canhazgpu jobs --all', "everybody's jobs, including those that ended in the last 30 days"],
	],
	flags: {
		all: {shortFlag: 'a', summary: "show everybody's jobs, including those that ended in the last 30 days"},
		json: jsonFlag,
		on: onFlag,
	},
	async run(app, input) {
		const exitCode = await runOnNamedHost(app, input, jobs);
		if (exitCode !== undefined) {
			return exitCode;
		}

		return withWorld(app, {}, async (world) => {
			const isAll = input.has('all');
			const {account} = app.requester(undefined);
			const {rows, now, garbage} = await listJobs(world, {account, isAll});
			app.print(
				input.has('json')
					? harmlessJson(rows.map((row) => jobJson(row, now)))
					: rows.length === 0
						? isAll
							? 'No jobs'
							: 'You have no recent jobs. To submit one: canhazgpu run --detach -- COMMAND'
						: jobsTable(rows, app.paint, {now, width: app.columns, hasUsers: isAll}),
			);
			for (const {number, problem} of garbage) {
				app.remark(`Warning: the record of job ${number} cannot be read: ${sanitize(problem)}`);
			}

			if (world.engine !== undefined && !input.has('json')) {
				app.remark(engineText(await world.engine.label()));
			}

			return 0;
		});
	},
};
