import os from 'node:os';
import type {Host} from '../core/model/ports.js';
import {readUserNamespace} from '../security/user-namespace.js';
import {readBootId, readMachineId} from './machine.js';
import {monotonicClockId, monotonicSeconds} from './monotonic.js';
import {liveness, livenessOfOrphans, ownIdentity, runsAsCaller} from './process/processes.js';
import {createUsers, ownUid} from './accounts/users.js';

/** This machine, read once; costs a few file reads, and a call of `getent` when our account is not in /etc/passwd. */
export const createHost = (users = createUsers()): Host => {
	const machineId = readMachineId();
	const bootId = readBootId();
	const self = ownIdentity();
	const uid = ownUid();
	return {
		hostname: os.hostname(),
		machineId,
		bootId,
		monotonic: {
			id: monotonicClockId({machineId, bootId, timeNamespace: self.timeNamespace}),
			seconds: monotonicSeconds,
		},
		uptimeSeconds: () => os.uptime(),
		self,
		account:
			uid === undefined
				? {name: os.userInfo().username, uid: -1}
				: {name: users.nameOfSync(uid), uid, userNamespace: readUserNamespace()},
		liveness: (processes) => liveness(processes),
		runsAsCaller: (process) => runsAsCaller(process),
		orphansOf: (dead) => livenessOfOrphans(dead),
	};
};
