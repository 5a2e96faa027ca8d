/**
Isolates with a control group of version 1, for root: a subgroup of this process's group, in which the devices of foreign GPUs cannot be opened. The
kernel keeps empty groups. `run` removes its group when the job has ended. If `run` was killed or the job left processes behind, `doctor` or the next
`run` that uses a control group removes it.
*/
import {randomUUID} from 'node:crypto';
import {existsSync, mkdirSync, readdirSync, rmdirSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import type {IsolationProblem} from '../../core/model/isolation.js';
import {messageOf} from '../../errors.js';
import {controlGroupsOf, joiningWords} from './control-groups.js';
import {numberKey, numberOf} from './device-numbers.js';
import type {MakeFence} from './fence.js';
import {startWitness, type Witness} from './witness.js';

/** The name of a group contains the pid of its creator. */
const named = /^canhazgpu-(?<pid>\d+)-/v;

const ownGroup = (): string | undefined => {
	try {
		return controlGroupsOf('self').find(({controllers}) => controllers.includes('devices'))?.directory;
	} catch {
		return undefined;
	}
};

const removeIfEmpty = (group: string): void => {
	try {
		rmdirSync(group);
	} catch {
		// Processes still run in the group, or another process has just removed the group.
	}
};

const removeLeftGroups = (directory: string): void => {
	let names: readonly string[];
	try {
		names = readdirSync(directory);
	} catch {
		return;
	}

	for (const name of names) {
		const pid = named.exec(name)?.groups?.['pid'];
		// The group of a live process is kept, because it may be new and still empty.
		if (pid === undefined || existsSync(`/proc/${pid}`)) {
			continue;
		}

		const group = path.join(directory, name);
		removeLeftGroups(group);
		removeIfEmpty(group);
	}
};

export const sweepDeviceGroups = (): void => {
	const group = ownGroup();
	if (group !== undefined) {
		removeLeftGroups(group);
	}
};

/** Maximum number of attempts. A process in a container cannot see that the creator of a new, empty group is alive, and may remove the group. */
const attempts = 3;

type Made = {readonly group: string; readonly witness: Witness};

async function tryToMake(
	parent: string,
	{foreign, proof}: Pick<Parameters<MakeFence>[0], 'foreign' | 'proof'>,
): Promise<Made | IsolationProblem> {
	const group = path.join(parent, `canhazgpu-${process.pid}-${randomUUID()}`);
	mkdirSync(group);
	let witness: Witness | IsolationProblem | undefined;
	try {
		for (const {file} of foreign) {
			// The kernel accepts one device per write.
			writeFileSync(path.join(group, 'devices.deny'), `c ${numberKey(numberOf(file))} rwm`);
		}

		witness = await startWitness({words: joiningWords([group], {}), program: 'cgroup', proof});
		return witness.kind === 'witness' ? {group, witness} : witness;
	} finally {
		if (witness?.kind !== 'witness') {
			removeIfEmpty(group);
		}
	}
}

const make = async (
	parent: string,
	options: Pick<Parameters<MakeFence>[0], 'foreign' | 'proof'>,
): Promise<Made | IsolationProblem> => {
	for (let attempt = 1; ; attempt++) {
		let problem: IsolationProblem;
		try {
			const made = await tryToMake(parent, options);
			if ('witness' in made) {
				return made;
			}

			problem = made;
		} catch (error) {
			problem = {kind: 'refused', program: 'cgroup', words: messageOf(error)};
		}

		if (problem.kind !== 'refused' || attempt === attempts) {
			return problem;
		}
	}
};

export const fenceByDeviceGroup: MakeFence = async ({foreign, proof, environment}) => {
	const parent = ownGroup();
	if (parent === undefined || !existsSync(path.join(parent, 'devices.deny'))) {
		return {kind: 'no-device-groups'};
	}

	const made = await make(parent, {foreign, proof});
	if (!('witness' in made)) {
		return made;
	}

	return {
		kind: 'fenced',
		entrance: joiningWords([made.group], environment),
		async close() {
			await made.witness.end();
			removeIfEmpty(made.group);
			removeLeftGroups(parent);
		},
	};
};
