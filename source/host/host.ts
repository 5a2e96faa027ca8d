import os from 'node:os';
import type {Account, Host} from '../core/model/ports.js';
import {readUserNamespace} from '../security/user-namespace.js';
import {readBootId, readMachineId} from './machine.js';
import {monotonicClockId, monotonicSeconds} from './monotonic.js';
import {liveness, livenessOfOrphans, ownIdentity, runsAsCaller} from './process/processes.js';
import {createUsers, ownUid, type Users} from './accounts/users.js';

type Options = {
	readonly users?: Users;
	/** The name of our account outside of its user namespace, as soon as that is proven: only an open pool can tell. */
	readonly outsideName?: () => string | undefined;
};

const readAccount = (users: Users): Account => {
	const uid = ownUid();
	return uid === undefined
		? {name: os.userInfo().username, uid: -1}
		: {name: users.nameOfSync(uid), uid, userNamespace: readUserNamespace()};
};

/** Reads when it is first asked, and remembers the answer. */
const once = <Value>(read: () => Value): (() => Value) => {
	let answer: {readonly value: Value} | undefined;
	return () => {
		answer ??= {value: read()};
		return answer.value;
	};
};

/**
This machine. What it is asked for is read then, and once; all of it costs a few file reads, and a call of `getent` when our account is not in
/etc/passwd.
*/
export const createHost = ({users = createUsers(), outsideName = () => undefined}: Options = {}): Host => {
	const machineId = once(readMachineId);
	const bootId = once(readBootId);
	const self = once(ownIdentity);
	const account = once(() => readAccount(users));
	const clockId = once(() =>
		monotonicClockId({machineId: machineId(), bootId: bootId(), timeNamespace: self().timeNamespace}),
	);
	return {
		// A container can have none, and an empty name is no name for a host.
		hostname: os.hostname() === '' ? 'localhost' : os.hostname(),
		get machineId() {
			return machineId();
		},
		get bootId() {
			return bootId();
		},
		get monotonic() {
			return {id: clockId(), seconds: monotonicSeconds};
		},
		uptimeSeconds: () => os.uptime(),
		get self() {
			return self();
		},
		get account() {
			return {...account(), outsideName: outsideName()};
		},
		liveness: (processes) => liveness(processes),
		runsAsCaller: (process) => runsAsCaller(process),
		orphansOf: (dead) => livenessOfOrphans(dead),
	};
};
