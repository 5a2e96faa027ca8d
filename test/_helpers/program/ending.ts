/** Creates a reservation that is due for a reminder. */
import {emptyPlan} from '../../../source/core/model/plan.js';
import {account, type Box} from './cli.js';
import {openStoreOf} from './processes.js';

/** A reservation of this account that was made two hours ago and ends in nine and a half minutes. */
export async function holdEnding(box: Box, index: number, note?: string): Promise<void> {
	const store = await openStoreOf(box);
	const {now} = await store.read();
	const lease = {
		user: account,
		actualUser: account,
		type: 'manual' as const,
		startTime: now - 7200,
		expiryTime: Math.ceil(now + 570),
		leaseId: 'lease-1',
		...(note !== undefined && {note}),
	};
	await store.commit({...emptyPlan, writes: [{kind: 'lease', index, lease}]});
	await store.close();
}
