/** A pool is closed even if its GPUs cannot be watched, because an open connection would keep the program alive. */
import {expect, test} from 'vitest';
import type {App, OpenWorld} from '../../../source/app/contract.js';
import type {Command, Input} from '../../../source/command-line/command.js';
import {status} from '../../../source/commands/status/status.js';
import {web} from '../../../source/commands/web.js';
import {createLiveWorld} from '../../_helpers/live-world.js';

const settings = new Map<string, unknown>([
	['web.port', 0],
	['web.host', '127.0.0.1'],
	['web.allowed_hosts', []],
	['web.hosts_interval', 5],
	['remote_hosts', []],
]);

const inputOf = (flags: readonly string[]) =>
	({
		has: (name: string) => flags.includes(name),
		text: () => undefined,
		config: {get: (name: string) => settings.get(name)},
	}) as unknown as Input;

test.each<[Command, readonly string[]]>([
	[status, ['json', 'follow']],
	[web, []],
])('$name closes the pool if watching the GPUs fails', async (command, flags) => {
	const world = await createLiveWorld(1);
	const calls: string[] = [];
	const app = {
		host: world.host,
		clock: world.clock,
		requester: () => ({account: 'alice', uid: 1000, label: 'alice'}),
		loadAhead: async () => undefined,
		interruption: () => ({
			signal: new AbortController().signal,
			exitCode: () => 143,
			end() {
				calls.push('interruption ended');
			},
		}),
		open: async () =>
			({
				...world,
				async watchGpus() {
					throw new TypeError('a file of the program is gone');
				},
				async close() {
					calls.push('pool closed');
				},
			}) as unknown as OpenWorld,
	} as unknown as App;
	await expect(command.run(app, inputOf(flags))).rejects.toThrow('a file of the program is gone');
	expect(calls.toSorted()).toEqual(['interruption ended', 'pool closed']);
});
