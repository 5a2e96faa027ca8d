import type {Refusal} from '../../../source/core/rules/grants/newcomer-grant.js';
import {readStatus, reserve} from '../../../source/core/operations/reservations.js';
import {person, type TestWorld} from '../../_helpers/world.js';
import type {Grant} from '../../../source/core/rules/request/request.js';

export const alice = person('alice');
export const bob = person('bob', 'bob', 1001);

export const hour = 3600;

export const granted = (answer: Grant | Refusal): Grant => {
	if (answer.kind !== 'granted') {
		throw new Error(`refused: ${JSON.stringify(answer.blocked)}`);
	}

	return answer;
};

export const take = async (world: TestWorld, requester = alice, ids?: readonly number[], count = 1) =>
	granted(await reserve(world, {requester, count, ids, durationSeconds: hour}));

export const owners = async (world: TestWorld) => (await readStatus(world)).rows.map(({owner}) => owner);
