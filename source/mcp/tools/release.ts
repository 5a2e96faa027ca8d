import * as v from 'valibot';
import {release as releaseLeases} from '../../core/operations/reservations.js';
import {readForDisplay} from '../../core/operations/transact.js';
import type {Holding} from '../../core/rules/leases/holdings.js';
import {hasCode} from '../../errors.js';
import {releaseJson} from '../../format/json/change-json.js';
import {partsOfHoldings} from '../../format/instances.js';
import {gone, requireOwnLease} from '../../format/owner.js';
import {leaseId} from '../input.js';
import {defineTool} from '../tool.js';
import {meantIds} from './meant.js';

export const release = defineTool({
	name: 'gpu_release',
	title: 'Release GPUs',
	description:
		'Releases reservations: all that this connection holds, or the one with lease_id, which must belong to your account. End the programs that use the GPUs first.',
	input: v.strictObject({
		lease_id: v.optional(leaseId('the reservation to release. The default is all that this connection holds.')),
	}),
	output: 'release',
	isReadOnly: false,
	async call({world, requester, held}, {lease_id: id}) {
		const released: Holding[] = [];
		for (const each of meantIds(held, id)) {
			try {
				const {released: parts} = await held.giveUp(each, async () => {
					requireOwnLease(await readForDisplay(world), requester, each);
					return releaseLeases(world, requester, {by: 'lease', leaseId: each});
				});
				released.push(...parts);
			} catch (error) {
				if (id !== undefined || !hasCode(error, 'not-found')) {
					throw error;
				}
			}
		}

		if (released.length === 0) {
			throw gone('That reservation');
		}

		return {json: releaseJson(released, undefined), words: `Released ${partsOfHoldings(released)}.`};
	},
});
