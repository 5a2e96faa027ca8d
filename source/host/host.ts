import os from 'node:os';
import type {Account, Host} from '../core/model/ports.js';
import {readUserNamespace} from '../security/user-namespace.js';
import {readBootId, readMachineId} from './machine.js';
import {monotonicClockId, monotonicSeconds} from './monotonic.js';
import {liveness, livenessOfOrphans, ownIdentity, runsAsCaller} from './process/processes.js';
import {createGroups} from './accounts/groups.js';
import {createUsers, ownUid, type Users} from './accounts/users.js';

type Options = {
	readonly users?: Users;
	/** Returns the name of this account outside of its user namespace. Undefined until a pool was opened and proved the name. */
	readonly outsideName?: () => string | undefined;
};

const readAccount = (users: Users): Account => {
	const uid = ownUid();
	return uid === undefined
		? {name: os.userInfo().username, uid: -1}
		: {name: users.nameOfSync(uid), uid, userNamespace: readUserNamespace()};
};

const once = <Value>(read: () => Value): (() => Value) => {
	let answer: {readonly value: Value} | undefined;
	return () => {
		answer ??= {value: read()};
		return answer.value;
	};
};

/** Describes this machine. Each fact is read on first use, because some take several file reads, or a run of `getent`. */
export const createHost = ({users = createUsers(), outsideName = () => undefined}: Options = {}): Host => {
	const machineId = once(readMachineId);
	const bootId = once(readBootId);
	const self = once(ownIdentity);
	const account = once(() => readAccount(users));
	const groupsAmong = createGroups();
	const clockId = once(() =>
		monotonicClockId({machineId: machineId(), bootId: bootId(), timeNamespace: self().timeNamespace}),
	);
	return {
		// A container can have no name or an empty one.
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
		groupsAmong,
		liveness: (processes) => liveness(processes),
		runsAsCaller: (process) => runsAsCaller(process),
		orphansOf: (dead) => livenessOfOrphans(dead),
	};
};
