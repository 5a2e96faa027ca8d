/** A host for tests. Every property can be overridden. */
import type {Host} from '../../../source/core/model/ports.js';

/** Returns a host whose clocks follow the clock of the test. The uptime is one day. */
export const testHost = (changes: Partial<Host> = {}): Host => ({
	hostname: 'box',
	machineId: 'machine-1',
	bootId: 'boot-1',
	monotonic: {id: 'boot-1', seconds: () => performance.now() / 1000},
	uptimeSeconds: () => 86_400 + performance.now() / 1000,
	self: {pid: 1},
	account: {name: 'alice', uid: 1000},
	groupsAmong: () => [],
	liveness: (processes) => processes.map(() => 'alive'),
	runsAsCaller: () => false,
	orphansOf: () => 'dead',
	...changes,
});
