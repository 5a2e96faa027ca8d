/** A machine for tests: everything about it can be said otherwise. */
import type {Host} from '../../../source/core/model/ports.js';

/** Its clocks run with the test's own, and it has been up for a day. */
export const testHost = (changes: Partial<Host> = {}): Host => ({
	hostname: 'box',
	machineId: 'machine-1',
	bootId: 'boot-1',
	monotonic: {id: 'boot-1', seconds: () => performance.now() / 1000},
	uptimeSeconds: () => 86_400 + performance.now() / 1000,
	self: {pid: 1},
	account: {name: 'alice', uid: 1000},
	liveness: (processes) => processes.map(() => 'alive'),
	runsAsCaller: () => false,
	orphansOf: () => 'dead',
	...changes,
});
