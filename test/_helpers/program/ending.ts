/** Creates a reservation that is due for a reminder. */
import {emptyPlan} from '../../../source/core/model/plan.js';
import {account, type Box} from './cli.js';
import {openStoreOf} from './processes.js';

type Ending = {readonly owner?: string; readonly leftSeconds?: number};

/** Creates a reservation that started two hours ago. By default, it belongs to this account and ends in nine and a half minutes. */
export async function holdEnding(
	box: Box,
	index: number,
	note?: string,
	{owner = account, leftSeconds = 570}: Ending = {},
): Promise<void> {
	const store = await openStoreOf(box);
	const {now} = await store.read();
	const lease = {
		user: owner,
		actualUser: owner,
		type: 'manual' as const,
		startTime: now - 7200,
		expiryTime: Math.ceil(now + leftSeconds),
		leaseId: 'lease-1',
		...(note !== undefined && {note}),
	};
	await store.commit({...emptyPlan, writes: [{kind: 'lease', index, lease}]});
	await store.close();
}
