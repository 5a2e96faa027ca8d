import {leaveQueue} from '../core/operations/waiting/leave-queue.js';
import {doubtAbout, ownerOf} from '../core/rules/leases/ownership.js';
import {readForDisplay} from '../core/operations/transact.js';
import {CanhazgpuError, quoted} from '../errors.js';
import {harmlessJson} from '../format/text/json.js';
import {queueJson, queueTable} from '../format/tables/queue-table.js';
import {sanitize} from '../format/text/text.js';
import type {App, OpenWorld} from '../app/contract.js';
import type {Command} from '../command-line/command.js';
import {jsonFlag} from '../command-line/flags.js';
import {queueRows} from '../core/rules/queue/queue-rows.js';
import {recentLossWords} from './shared/data-loss.js';
import {onFlag} from './shared/hosts/on-flag.js';

async function leave(
	app: App,
	world: OpenWorld,
	{id, isJson}: {readonly id: string; readonly isJson: boolean},
): Promise<void> {
	const requester = app.requester(undefined);
	const result = await leaveQueue(world, requester, id);
	switch (result.kind) {
		case 'left': {
			if (isJson) {
				app.print(harmlessJson({left: result.id, released_gpu_ids: result.freed}));
				return;
			}

			const freed = result.freed.length === 0 ? '' : `, giving back GPU(s): [${result.freed.join(' ')}]`;
			app.print(`Left the queue${freed}`);
			return;
		}

		case 'not-found': {
			throw new CanhazgpuError('not-found', `No entry of the queue has the id ${quoted(id)}`, {
				hint: 'See who waits: canhazgpu queue',
			});
		}

		case 'ambiguous': {
			throw new CanhazgpuError('usage', `Several ids begin with ${quoted(id)}: ${result.ids.join(', ')}`, {
				hint: 'Write more of it.',
			});
		}

		case 'not-yours': {
			throw new CanhazgpuError('not-owner', `That place in the queue belongs to ${sanitize(ownerOf(result.entry))}`, {
				hint: doubtAbout(requester) ?? 'Only its account or root may give it up.',
			});
		}
	}
}

export const queue: Command = {
	name: 'queue',
	summary: 'Show who waits for GPUs, in their order',
	usage: '[--leave ID | --all] [--json]',
	examples: [
		['canhazgpu queue', 'who waits'],
		['canhazgpu queue --leave 3f2a', 'give up a position of yours'],
	],
	flags: {
		json: {...jsonFlag, setting: 'queue.json'},
		leave: {value: 'ID', summary: 'give up this position, by its id or the beginning of it', completes: 'places'},
		all: {summary: 'of this host and of those in remote_hosts'},
		on: onFlag,
	},
	async run(app, input) {
		if (input.has('all')) {
			const other = ['leave', 'on'].find((flag) => input.has(flag));
			if (other !== undefined) {
				throw new CanhazgpuError('usage', `--all shows every host, and --${other} is about one`, {
					hint: 'Leave out one of them.',
				});
			}

			const {showQueues} = await import('./shared/hosts/host-queues.js');
			return showQueues(app, input);
		}

		if (input.has('on')) {
			const {runElsewhere} = await import('./shared/hosts/on-host.js');
			const exitCode = await runElsewhere(app, input, queue);
			if (exitCode !== undefined) {
				return exitCode;
			}
		}

		const world = await app.open();
		try {
			// The table shows an id with an ellipsis: copied whole it is the beginning of one all the same.
			const id = input.text('leave')?.replace(/(?<=.)…$/v, '');
			if (id !== undefined) {
				await leave(app, world, {id, isJson: input.has('json')});
				return 0;
			}

			const snapshot = await readForDisplay(world);
			const rows = queueRows(snapshot);
			if (input.config.get('queue.json') === true) {
				app.print(harmlessJson(queueJson(rows)));
			} else {
				app.print(
					rows.length === 0 ? 'Nobody waits' : queueTable(rows, app.paint, {now: snapshot.now, width: app.columns}),
				);
				const loss = await recentLossWords(snapshot);
				if (loss !== undefined) {
					app.remark(`Warning: ${loss}`);
				}
			}

			return 0;
		} finally {
			await world.close();
		}
	},
};
