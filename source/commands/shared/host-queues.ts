/** `queue --all`: who waits on this host and on those of `remote_hosts`. */
import {readForDisplay} from '../../core/operations/transact.js';
import {otherHosts} from '../../core/model/other-hosts.js';
import {queueRows} from '../../core/rules/queue/queue-rows.js';
import {hostQueuesJson, hostQueuesTable, type HostQueue} from '../../format/tables/host-queues.js';
import {queueJson} from '../../format/tables/queue-table.js';
import {harmlessJson} from '../../format/text/json.js';
import type {App} from '../../app/contract.js';
import type {Input} from '../../command-line/command.js';
import {errorWords, untilInterrupted} from '../status/hosts.js';
import {createAskingLine} from './progress-line.js';

async function ownQueue(app: App): Promise<HostQueue> {
	const host = app.host.hostname;
	try {
		const world = await app.open();
		try {
			return {host, entries: queueJson(queueRows(await readForDisplay(world))).entries};
		} finally {
			await world.close();
		}
	} catch (error) {
		return {host, error: errorWords(error)};
	}
}

/** @returns The exit code: 0 whatever the hosts answer, 130 after Ctrl-C. */
export const showQueues = async (app: App, input: Input): Promise<number> =>
	untilInterrupted(app, async (signal) => {
		const others = otherHosts(input.config.get('remote_hosts')!, app.host.hostname);
		const asking = createAskingLine(app, others);
		const ask = async (host: string): Promise<HostQueue> => {
			try {
				return {host, ...(await app.remoteQueue(host, signal))};
			} catch (error) {
				return {host, error: errorWords(error)};
			} finally {
				asking.answered(host);
			}
		};

		const queues = await Promise.all([ownQueue(app), ...others.map(async (host) => ask(host))]);
		asking.end();
		if (signal.aborted) {
			return;
		}

		app.print(
			input.config.get('queue.json') === true
				? harmlessJson(hostQueuesJson(queues))
				: hostQueuesTable(queues, app.paint, {now: Date.now() / 1000, width: app.columns}),
		);
	});
