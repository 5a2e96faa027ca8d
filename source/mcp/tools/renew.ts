import * as v from 'valibot';
import {limitsFor} from '../../core/operations/limits.js';
import {extend} from '../../core/operations/reservations.js';
import {readForDisplay} from '../../core/operations/transact.js';
import type {ExtendResult} from '../../core/operations/engine.js';
import {parseHold} from '../../core/rules/leases/durations.js';
import {holdingsIn} from '../../core/rules/leases/holdings.js';
import {agentRenewalSeconds, secondsUntilEnd, usualAgentSeconds} from '../../core/rules/policy/agents.js';
import {CanhazgpuError} from '../../errors.js';
import {extendJson} from '../../format/json/change-json.js';
import {partsOfHoldings} from '../../format/instances.js';
import {gone, requireOwnLease} from '../../format/owner.js';
import {gpuList} from '../../format/text/gpu-list.js';
import {longDuration} from '../../format/text/durations.js';
import {sanitize} from '../../format/text/text.js';
import {leaseId, text} from '../input.js';
import {defineTool, type Call} from '../tool.js';
import {meantIds} from './meant.js';

type Renewal = Pick<ExtendResult, 'extended' | 'now'> & {readonly seconds: number};

/** Moves the end of a reservation that this connection does not hold. */
async function extendOther({world, requester}: Call, id: string, asked: number | undefined): Promise<Renewal> {
	const snapshot = await readForDisplay(world);
	requireOwnLease(snapshot, requester, id);
	const leases = holdingsIn(snapshot.gpus).flatMap(({lease}) => (lease.leaseId === id ? [lease] : []));
	const most = limitsFor(world, snapshot, requester)['max-duration']?.value;
	// Slurm has limits of its own.
	const seconds =
		asked ??
		(world.engine === undefined
			? agentRenewalSeconds(snapshot, leases, most)
			: Math.max(usualAgentSeconds, secondsUntilEnd(leases, snapshot.now)));
	const result = await extend(world, requester, {by: 'lease', leaseId: id}, {until: snapshot.now + seconds});
	if (result.notTimed.length > 0) {
		throw new CanhazgpuError('failed', `${gpuList(result.notTimed)}: held by a running job or another connection`, {
			hint: 'Nothing was changed. Only the process that holds it can renew it.',
		});
	}

	if (result.extended.length === 0) {
		throw gone('That reservation');
	}

	return {...result, seconds};
}

export const renew = defineTool({
	name: 'gpu_renew',
	title: 'Renew a reservation',
	description:
		'Moves the end of reservations to the given time from now: of all that this connection holds, or of the one with lease_id, which must belong to your account.',
	input: v.strictObject({
		duration: v.optional(
			text(
				'how long from now, such as 30m or 2h. The default is 30m, or less if the policy allows less. Without it, no end is moved to an earlier time.',
			),
		),
		lease_id: v.optional(leaseId('the reservation to renew. The default is all that this connection holds.')),
	}),
	output: 'extend',
	isReadOnly: false,
	async call(call, {duration, lease_id: id}) {
		const {world, requester, held} = call;
		const asked = duration === undefined ? undefined : parseHold(duration, 'duration');
		const renewals: Renewal[] = [];
		const problems: CanhazgpuError[] = [];
		for (const each of meantIds(held, id)) {
			try {
				renewals.push((await held.renew(world, requester, each, asked)) ?? (await extendOther(call, each, asked)));
			} catch (error) {
				if (!(error instanceof CanhazgpuError)) {
					throw error;
				}

				// A reservation that has just ended must not prevent the renewal of the others.
				problems.push(error);
			}
		}

		if (renewals.length === 0 && problems.length > 0) {
			throw problems[0]!;
		}

		const renewed = Map.groupBy(renewals, ({seconds}) => seconds)
			.entries()
			.map(([seconds, group]) => {
				const parts = partsOfHoldings(group.flatMap(({extended}) => extended));
				return `Renewed ${parts} until ${longDuration(seconds)} from now.`;
			});
		const extended = renewals.flatMap((renewal) => renewal.extended);
		const now = renewals.at(-1)?.now ?? 0;
		const others = [...new Set(problems.map(({message}) => `Not renewed: ${sanitize(message)}.`))];
		return {json: extendJson(extended, undefined, now), words: [...renewed, ...others].join(' ')};
	},
});
