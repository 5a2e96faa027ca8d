/** Many people who request shares of GPUs at the same time. */
import type {World} from '../../../source/core/model/ports.js';
import type {Requester} from '../../../source/core/model/types.js';
import {changePolicy} from '../../../source/core/operations/pool/policy.js';
import {release} from '../../../source/core/operations/reservations.js';
import {acquire} from '../../../source/core/operations/waiting/acquire.js';
import {CanhazgpuError} from '../../../source/errors.js';
import {person as personNamed, randomFrom} from '../world.js';
import type {Crowd} from './crowd.js';

/** Releases a lease. A busy store returns an error after ten seconds, so the release is repeated. */
async function giveBack(world: World, requester: Requester, leaseId: string): Promise<void> {
	for (let tries = 1; ; tries++) {
		try {
			await release(world, requester, {by: 'lease', leaseId});
			return;
		} catch (error) {
			if (!(error instanceof CanhazgpuError && error.code === 'busy' && tries < 5)) {
				throw error;
			}
		}
	}
}

export type Shared = {
	readonly served: number;
	/** The largest number of shares that a GPU had in any snapshot. */
	readonly mostOnOneGpu: number;
};

/**
Lets people request shares. Each requests 1 to 24 GiB of one or two GPUs, and every tenth requests a whole GPU. After a grant, a person holds the
GPUs for a moment and releases them.
*/
export async function shareAll(crowd: Crowd, count: number, seed = 7): Promise<Shared> {
	const random = randomFrom(seed);
	const admin = await crowd.enter();
	await changePolicy(admin.world, personNamed('root', 'root', 0), [
		{key: 'share', value: 'on'},
		{key: 'share.max', value: '8'},
	]);
	let served = 0;
	let mostOnOneGpu = 0;
	const people = await Promise.all(Array.from({length: count}, async () => crowd.enter()));
	const wishes = people.map((person, index) => ({
		person,
		gpus: random() < 0.2 ? 2 : 1,
		shareMiB: index % 10 === 9 ? undefined : 1024 * (1 + Math.floor(random() * 24)),
		holdMs: Math.floor(random() * 20),
	}));
	await Promise.all(
		wishes.map(async ({person: {world}, gpus, shareMiB, holdMs}) => {
			const {name, uid} = world.host.account;
			const requester = personNamed(name, name, uid);
			const answer = await acquire(
				world,
				{requester, count: gpus, need: shareMiB === undefined ? undefined : {shareMiB}, tenure: {type: 'run'}},
				{waitSeconds: undefined, signal: new AbortController().signal, onProgress: () => undefined},
			);
			if (answer.kind !== 'granted') {
				throw new Error(`${name} got nothing: ${answer.kind}`);
			}

			served++;
			const snapshot = await world.store.read();
			mostOnOneGpu = Math.max(
				mostOnOneGpu,
				...snapshot.gpus.map((gpu) => (gpu.kind === 'shared' ? gpu.shares.length : 0)),
			);
			await world.clock.sleep(holdMs);
			await giveBack(world, requester, answer.leaseId);
		}),
	);
	return {served, mostOnOneGpu};
}
