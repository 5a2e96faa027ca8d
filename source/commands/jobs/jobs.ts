import {readCurrentJobs} from '../../core/operations/jobs/jobs.js';
import {jobRows, type JobRow} from '../../core/rules/jobs/rows.js';
import {jobJson, jobsTable} from '../../format/jobs.js';
import {harmlessJson} from '../../format/text/json.js';
import {sanitize} from '../../format/text/text.js';
import type {Command} from '../../command-line/command.js';
import {jsonFlag} from '../shared/common-flags.js';
import {onFlag, runOnNamedHost} from '../shared/hosts/on-flag.js';
import {withWorld} from '../shared/with-world.js';

export const jobs: Command = {
	name: 'jobs',
	summary: 'Show the jobs that run --detach has submitted',
	usage: '[--all] [--json]',
	examples: [
		['canhazgpu jobs', 'your jobs that wait, run, or ended during the last day'],
		['canhazgpu jobs --all', 'the jobs of everybody during the last 30 days'],
	],
	flags: {
		all: {shortFlag: 'a', summary: "include everybody's jobs, and those that ended during the last 30 days"},
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
			const list = await readCurrentJobs(world);
			const rows: readonly JobRow[] = jobRows(list, {account, isAll});
			const {now} = list;
			app.print(
				input.has('json')
					? harmlessJson(rows.map((row) => jobJson(row, now)))
					: rows.length === 0
						? isAll
							? 'No jobs'
							: 'No jobs of yours. To submit one: canhazgpu run --detach -- COMMAND'
						: jobsTable(rows, app.paint, {now, width: app.columns, hasUsers: isAll}),
			);
			for (const record of list.records) {
				if (record.kind === 'garbage') {
					app.remark(`Warning: the record of job ${record.number} cannot be read: ${sanitize(record.problem)}`);
				}
			}

			return 0;
		});
	},
};
