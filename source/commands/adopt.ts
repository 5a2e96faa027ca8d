import {adopt} from '../core/operations/adopt.js';
import {CanhazgpuError, quoted} from '../errors.js';
import {harmlessJson} from '../format/text/json.js';
import {instancesJson, partsText} from '../format/instances.js';
import {sanitize} from '../format/text/text.js';
import type {App} from '../app/contract.js';
import type {Input} from '../command-line/command.js';
import {checkLabel} from './shared/flag-values.js';
import {wantFlags} from './shared/request-flags.js';
import {withWorld} from './shared/with-world.js';

/** The only request flags that can be combined with --pid. The adopted process decides which GPUs are reserved, and for how long. */
const fitting: ReadonlySet<string> = new Set(['note', 'user']);

function pidOf(input: Input): number {
	const given = [...Object.keys(wantFlags('reserve')), 'duration', 'force', 'while-pid'].find(
		(flag) => input.has(flag) && !fitting.has(flag),
	);
	if (given !== undefined) {
		throw new CanhazgpuError('usage', `--pid and --${given} cannot be used together`, {
			hint: '--pid reserves the GPUs that the process already uses, until it ends.',
		});
	}

	return processIdOf(input, 'pid');
}

export function processIdOf(input: Input, flag: string): number {
	const text = input.text(flag) ?? '';
	if (!/^[1-9]\d{0,9}$/v.test(text)) {
		throw new CanhazgpuError('usage', `--${flag}: ${quoted(text)} is not a process id`, {
			hint: `For example: canhazgpu reserve --${flag} 12345`,
		});
	}

	return Number(text);
}

export async function reserveForProcess(app: App, input: Input): Promise<number> {
	const pid = pidOf(input);
	const label = checkLabel(input.config.get('reserve.user'));
	return withWorld(app, {details: 'parts'}, async (world) => {
		const note = input.config.get('reserve.note');
		const {gpus, instances, owner, name, leaseId} = await adopt(world, {
			requester: app.requester(undefined),
			pid,
			label,
			note,
		});
		if (input.has('json')) {
			app.print(
				harmlessJson({
					gpu_ids: gpus,
					mig_instances: instances && instancesJson(instances),
					user: label ?? owner,
					actual_user: owner,
					type: 'RUN',
					note: note === '' ? undefined : note,
					lease_id: leaseId,
					pid,
					process_name: name,
				}),
			);
		} else if (input.config.get('reserve.short') === true) {
			app.print(instances === undefined ? gpus.join(',') : instances.map(({uuid}) => sanitize(uuid)).join(','));
		} else {
			const whose = owner === app.host.account.name ? '' : ` of ${sanitize(owner)}`;
			const what = name === undefined ? '' : ` (${sanitize(name)})`;
			app.print(`Reserved ${partsText(gpus, instances)} for process ${pid}${what}${whose} until it ends`);
		}

		if (world.privateLabel !== undefined) {
			app.remark(world.privateLabel);
		}

		return 0;
	});
}
