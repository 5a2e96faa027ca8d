import type {StoreCondition} from '../../core/model/ports.js';
import type {Connection} from './connection.js';
import {ask, infoText, textOf} from './replies.js';

/** What the server says of itself; nothing where this account may not ask. */
export async function readCondition(connection: Connection): Promise<StoreCondition> {
	const text = await ask(connection, async (client) => infoText(client), textOf);
	const facts = new Map(text.split('\n').map((line) => line.trim().split(':', 2) as [string, string]));
	const version = facts.get('redis_version');
	const appendOnly = facts.get('aof_enabled');
	const policy = facts.get('maxmemory_policy');
	return {
		version: version === undefined ? undefined : `Redis ${version}`,
		isDurable: appendOnly === undefined ? undefined : appendOnly === '1',
		// Without a limit nothing is ever thrown away.
		evicts: policy === undefined ? undefined : facts.get('maxmemory') !== '0' && policy !== 'noeviction',
	};
}
