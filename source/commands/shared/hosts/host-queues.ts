import {readForDisplay} from '../../../core/operations/transact.js';
import {otherHosts} from '../../../core/model/other-hosts.js';
import {queueRows} from '../../../core/rules/queue/queue-rows.js';
import {hostQueuesTable, hostsJson, type HostAnswer} from '../../../format/tables/host-tables.js';
import {queueJson} from '../../../format/tables/queue-table.js';
import {harmlessJson} from '../../../format/text/json.js';
import type {App} from '../../../app/contract.js';
import type {Input} from '../../../command-line/command.js';
import {withWorld} from '../with-world.js';
import {askHosts, untilInterrupted} from './ask-hosts.js';

const ownQueue = async (app: App): Promise<HostAnswer> =>
	withWorld(app, {}, async (world) => {
		const {entries} = queueJson(queueRows(await readForDisplay(world)));
		return {host: app.host.hostname, rows: entries, source: await world.engine?.label()};
	});

/** Prints the queues of all hosts. Returns the exit code: 0 even if hosts fail, 130 after Ctrl-C. */
export const showQueues = async (app: App, input: Input): Promise<number> =>
	untilInterrupted(app, async (signal) => {
		const others = otherHosts(input.config.get('remote_hosts')!, app.host.hostname);
		const queues = await askHosts<HostAnswer>(app, others, {
			own: async () => ownQueue(app),
			other: async (host) => ({host, rows: (await app.remoteQueue(host, signal)).entries}),
		});
		if (signal.aborted) {
			return;
		}

		app.print(
			input.config.get('queue.json') === true
				? harmlessJson(hostsJson(queues))
				: hostQueuesTable(queues, app.paint, {now: Date.now() / 1000, width: app.columns}),
		);
	});
