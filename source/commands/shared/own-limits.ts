import type {OwnLimits} from '../../core/model/other-hosts.js';
import type {World} from '../../core/model/ports.js';
import type {Snapshot} from '../../core/model/types.js';
import {limitsFor} from '../../core/operations/limits.js';
import {accountRoomOf} from '../../core/rules/queue/account-room.js';
import type {App} from '../../app/contract.js';

/** Returns the limits of the user's account on this host that decide whether `--on any` chooses this host. */
export function ownLimits(app: App, world: World, snapshot: Snapshot): OwnLimits {
	const requester = app.requester(undefined);
	const limits = limitsFor(world, snapshot, requester);
	return {
		room: accountRoomOf(snapshot, requester.account, limits['max-gpus']),
		mostSeconds: limits['max-duration']?.value,
	};
}
