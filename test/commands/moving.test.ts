/** A request of `--on any` that waits on one host, while the others are asked. */
import {setTimeout as sleep} from 'node:timers/promises';
import {expect, test} from 'vitest';
import type {App} from '../../source/app/contract.js';
import {findBetterHost} from '../../source/commands/shared/hosts/watch-hosts.js';
import {CanhazgpuError} from '../../source/errors.js';

test('a request that is served while a host hangs does not wait for that host', async () => {
	const asked = Promise.withResolvers<void>();
	const app = {
		clock: {
			async sleep(_milliseconds: number, signal?: AbortSignal) {
				signal?.throwIfAborted();
			},
		},
		host: {hostname: 'laptop'},
		async open() {
			throw new CanhazgpuError('no-pool', 'There is no GPU pool on this machine yet');
		},
		remoteQueue: async () => ({entries: [{id: 'mine', allocated_gpus: []}]}),
		remoteStatus: async (_host: string, signal?: AbortSignal) =>
			new Promise((_resolve, reject) => {
				signal?.addEventListener('abort', () => {
					reject(new CanhazgpuError('failed', 'not wanted any more'));
				});
				asked.resolve();
			}),
	} as unknown as App;
	const waiting = new AbortController();
	const moving = findBetterHost(app, {
		wanted: {count: 1, ids: undefined, need: undefined},
		host: 'near',
		entryId: 'mine',
		others: ['near', 'hanging'],
		signal: waiting.signal,
	});
	await asked.promise;
	waiting.abort();
	expect(await Promise.race([moving, sleep(5000, 'still waiting')])).toBeUndefined();
});
