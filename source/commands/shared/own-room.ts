import type {AccountRoom} from '../../core/model/other-hosts.js';
import type {World} from '../../core/model/ports.js';
import type {Snapshot} from '../../core/model/types.js';
import {limitsFor} from '../../core/operations/limits.js';
import {accountRoomOf} from '../../core/rules/queue/account-room.js';
import type {App} from '../../app/contract.js';

/** Returns how many more GPUs the user can get on this host under the limit `max-gpus`. Undefined without a limit. */
export function ownRoom(app: App, world: World, snapshot: Snapshot): AccountRoom | undefined {
	const requester = app.requester(undefined);
	return accountRoomOf(snapshot, requester.account, limitsFor(world, snapshot, requester)['max-gpus']);
}
