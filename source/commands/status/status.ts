import {createAlertRecorder} from '../../core/operations/record-alerts.js';
import {readStatus} from '../../core/operations/reservations.js';
import {engineText} from '../../format/engine/engine-text.js';
import {harmlessJson} from '../../format/text/json.js';
import {statusJson} from '../../format/json/status-json.js';
import {statusTable} from '../../format/tables/status-table.js';
import {policyProblemText} from '../../format/policy.js';
import {CanhazgpuError} from '../../errors.js';
import type {App, OpenWorld} from '../../app/contract.js';
import type {Command, Input} from '../../command-line/command.js';
import {jsonFlag} from '../shared/common-flags.js';
import {recentLossText} from '../shared/data-loss.js';
import {withWorld} from '../shared/with-world.js';
import type {StatusForm} from './hosts.js';

/** Chooses the output form. As in the Go program, the summary wins over JSON, except with --all or --follow. Flags win over settings. */
export function formOf({has, config}: Pick<Input, 'has' | 'config'>): StatusForm {
	const forms = has('all') || has('follow') ? (['json', 'summary'] as const) : (['summary', 'json'] as const);
	const typed = forms.find((form) => has(form));
	return typed ?? forms.find((form) => config.get(`status.${form}`) === true) ?? 'table';
}

async function follow(app: App, input: Input, form: StatusForm): Promise<number> {
	if (form !== 'json') {
		throw new CanhazgpuError('usage', '--follow works only with --json', {
			hint: 'Add --json, or use: canhazgpu top',
		});
	}

	const other = ['remote', 'all'].find((flag) => input.has(flag));
	if (other !== undefined) {
		throw new CanhazgpuError('usage', `--follow shows only this host, so it cannot be combined with --${other}`, {
			hint: 'To follow another host: ssh HOST canhazgpu status --json --follow',
		});
	}

	const {followStatus} = await import('./follow.js');
	return followStatus(app);
}

const sourceOf = async ({engine, host}: OpenWorld): Promise<string> => engine?.label() ?? host.hostname;

const engineRemark = async ({engine}: OpenWorld): Promise<string | undefined> =>
	engine && engineText(await engine.label());

export const status: Command = {
	name: 'status',
	summary: 'Show every GPU, who holds it and what is running on it',
	usage: '[--json [--follow] | --summary] [--remote HOST | --all]',
	examples: [
		['canhazgpu status', 'the table'],
		['canhazgpu status --json', 'the status as JSON, for scripts'],
		['canhazgpu status --json --follow', 'a line of JSON for each change'],
		['canhazgpu status --all --summary', 'a line for each host in remote_hosts'],
	],
	flags: {
		json: {...jsonFlag, setting: 'status.json'},
		summary: {shortFlag: 's', summary: 'print one line for the whole machine', setting: 'status.summary'},
		follow: {shortFlag: 'f', summary: 'with --json: print a line after each change and each scan, until Ctrl-C'},
		remote: {shortFlag: 'r', value: 'HOST', summary: 'show another host by ssh', completes: 'hosts'},
		all: {summary: 'include the hosts in remote_hosts'},
	},
	async run(app, input) {
		const form = formOf(input);
		const remote = input.text('remote');
		if (remote !== undefined && input.has('all')) {
			throw new CanhazgpuError('usage', '--remote (one host) and --all (every host) cannot be combined', {
				hint: 'Leave out one of them.',
			});
		}

		if (input.has('follow')) {
			return follow(app, input, form);
		}

		if (remote !== undefined || input.has('all')) {
			const {showAll, showRemote} = await import('./hosts.js');
			return remote === undefined ? showAll(app, input, form) : showRemote(app, remote, form);
		}

		return withWorld(app, {willScan: true, details: 'parts'}, async (world) => {
			const view = await readStatus(world);
			if (form === 'json') {
				app.print(harmlessJson(statusJson(view.rows, view.observation)));
			} else if (form === 'summary') {
				const {summaryTable} = await import('../../format/tables/host-tables.js');
				app.print(
					summaryTable(
						[
							{
								host: await sourceOf(world),
								rows: statusJson(view.rows, view.observation),
							},
						],
						app.paint,
						app.columns,
					),
				);
			} else {
				app.print(statusTable(view.rows, app.paint, app.columns));
			}

			const {failure, warnings, simulated} = view.observation;
			const policyProblem = policyProblemText(view.snapshot);
			const loss = form === 'json' ? undefined : await recentLossText(view.snapshot);
			const remarks = [
				failure && `Warning: the GPUs could not be read: ${failure.message} ${failure.hint ?? ''}`.trimEnd(),
				...warnings.map((warning) => `Warning: ${warning}`),
				loss === undefined ? undefined : `Warning: ${loss}`,
				policyProblem === undefined ? undefined : `Warning: ${policyProblem}`,
				view.snapshot.gpus.some(({kind}) => kind === 'garbage')
					? 'Warning: a GPU whose record cannot be read is not granted to anyone. To fix it: canhazgpu doctor'
					: undefined,
				simulated ? 'SIMULATED GPUs: no real hardware is behind this pool.' : undefined,
				world.privateLabel,
				await engineRemark(world),
			];
			for (const remark of remarks) {
				if (remark !== undefined && form !== 'json') {
					app.remark(remark);
				}
			}

			// Alerts are recorded after the output, so that recording can neither delay the output nor make it fail.
			await createAlertRecorder(world)(view.snapshot, view.observation);
			return 0;
		});
	},
};
