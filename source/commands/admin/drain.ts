/** `admin --drain` and `--undrain`. Any account that can change the pool may drain a GPU, and the audit log names the account. */
import {drain, undrain} from '../../core/operations/pool/drain.js';
import {characterCount, longestReason} from '../../core/rules/request/request.js';
import {CanhazgpuError} from '../../errors.js';
import {harmlessJson} from '../../format/text/json.js';
import {sanitize} from '../../format/text/text.js';
import type {App} from '../../app/contract.js';
import type {Input} from '../../command-line/command.js';
import {idsOf, refuseBoth} from '../shared/flag-values.js';
import {withWorld} from '../shared/with-world.js';

/** Refuses the flags that create a pool. `others` is the second half of the error, about the flags that need an existing pool. */
export function refuseMaking(input: Input, others: string): void {
	const making = ['gpus', 'provider', 'group', 'force'].find((flag) => input.has(flag));
	if (making !== undefined) {
		throw new CanhazgpuError('usage', `--${making} creates a pool, but ${others}`, {
			hint: `Leave out --${making}.`,
		});
	}
}

function reasonOf(input: Input): string | undefined {
	const reason = input.text('reason');
	const count = characterCount(reason?.trim() ?? '-');
	if (count < 1 || count > longestReason) {
		throw new CanhazgpuError('usage', `--reason must be 1 to ${longestReason} characters long, but has ${count}`);
	}

	return reason?.trim();
}

export const isAboutDrains = (input: Input): boolean => ['drain', 'undrain', 'reason'].some((flag) => input.has(flag));

export async function changeDrains(app: App, input: Input): Promise<number> {
	const toDrain = idsOf(input, 'drain');
	const toUndrain = idsOf(input, 'undrain');
	const reason = reasonOf(input);
	refuseMaking(input, '--drain and --undrain change the existing pool');
	refuseBoth(input, 'drain', 'undrain');
	if (reason !== undefined && toDrain === undefined) {
		throw new CanhazgpuError('usage', '--reason needs --drain', {
			hint: 'For example: canhazgpu admin --drain 3 --reason "fan is dead"',
		});
	}

	return withWorld(app, {}, async (world) => {
		const requester = app.requester(undefined);
		if (toDrain === undefined) {
			const gpus = await undrain(world, requester, toUndrain!);
			const others = toUndrain!.filter((id) => !gpus.includes(id));
			const nothing = `Already in service: GPU(s) [${others.join(' ')}]`;
			if (input.has('json')) {
				app.print(harmlessJson({undrained: gpus}));
			} else if (gpus.length === 0) {
				app.print(nothing);
			} else {
				app.print(`Put ${gpus.length} GPU(s) back into service: [${gpus.join(' ')}]`);
				if (others.length > 0) {
					app.remark(nothing);
				}
			}

			return 0;
		}

		const {gpus, leased} = await drain(world, requester, toDrain, reason);
		if (input.has('json')) {
			app.print(harmlessJson({drained: gpus, reason, in_use: leased}));
			return 0;
		}

		const why = reason === undefined ? '' : `: ${sanitize(reason)}`;
		app.print(`Took ${gpus.length} GPU(s) out of service: [${gpus.join(' ')}]${why}`);
		if (leased.length > 0) {
			app.remark(`Still in use until released: GPU(s) [${leased.join(' ')}]`);
		}

		return 0;
	});
}
