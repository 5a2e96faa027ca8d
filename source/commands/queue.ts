import {leaveQueue, leaveQueueWhileEmpty} from '../core/operations/waiting/leave-queue.js';
import {doubtAbout, ownerOf} from '../core/rules/leases/ownership.js';
import {readForDisplay} from '../core/operations/transact.js';
import {CanhazgpuError, quoted} from '../errors.js';
import {engineText} from '../format/engine/engine-text.js';
import {harmlessJson} from '../format/text/json.js';
import {queueJson, queueTable} from '../format/tables/queue-table.js';
import {queueWhy} from '../format/queue/why.js';
import {sanitize} from '../format/text/text.js';
import type {App, OpenWorld} from '../app/contract.js';
import type {Command} from '../command-line/command.js';
import {queueRows} from '../core/rules/queue/queue-rows.js';
import {ownLimits} from './shared/own-limits.js';
import {jsonFlag} from './shared/common-flags.js';
import {recentLossText} from './shared/data-loss.js';
import {onFlag, runOnNamedHost} from './shared/hosts/on-flag.js';
import {withWorld} from './shared/with-world.js';

async function leave(
	app: App,
	world: OpenWorld,
	{id, isJson, isWhileEmpty}: {readonly id: string; readonly isJson: boolean; readonly isWhileEmpty: boolean},
): Promise<void> {
	const requester = app.requester(undefined);
	const result = await (isWhileEmpty ? leaveQueueWhileEmpty : leaveQueue)(world, requester, id);
	switch (result.kind) {
		case 'left': {
			if (isJson) {
				app.print(harmlessJson({left: result.id, released_gpu_ids: result.freed}));
				return;
			}

			const freed = result.freed.length === 0 ? '' : `, releasing GPU(s): [${result.freed.join(' ')}]`;
			app.print(`Left the queue${freed}`);
			return;
		}

		case 'not-found': {
			throw new CanhazgpuError('not-found', `No queue entry has the id ${quoted(id)}`, {
				hint: 'See who is waiting: canhazgpu queue',
			});
		}

		case 'ambiguous': {
			throw new CanhazgpuError('usage', `Several ids begin with ${quoted(id)}: ${result.ids.join(', ')}`, {
				hint: 'Type more characters of the id.',
			});
		}

		case 'holds': {
			throw new CanhazgpuError('unavailable', `The entry already holds GPU(s): [${result.gpus.join(' ')}]`, {
				hint: 'The entry stays in the queue. To cancel it and release these GPUs, leave out --while-empty.',
			});
		}

		case 'not-yours': {
			throw new CanhazgpuError('not-owner', `That queue entry belongs to ${sanitize(ownerOf(result.entry))}`, {
				hint: doubtAbout(requester) ?? 'Only that account or root can cancel it.',
			});
		}
	}
}

export const queue: Command = {
	name: 'queue',
	summary: 'Show who is waiting for GPUs, or leave the queue',
	usage: '[--why | --leave ID [--while-empty] | --all] [--json]',
	examples: [
		['canhazgpu queue', 'who is waiting'],
		['canhazgpu queue --why', 'who each entry is waiting for, and for how long'],
		['canhazgpu queue --leave 3f2a', 'cancel a request of yours'],
	],
	flags: {
		json: {...jsonFlag, setting: 'queue.json'},
		why: {summary: 'show who each entry is waiting for, and until when'},
		leave: {
			value: 'ID',
			summary: 'cancel the entry whose id starts with ID',
			completes: 'queue-entries',
		},
		'while-empty': {summary: 'with --leave: only if the entry holds no GPU yet'},
		all: {summary: 'include the hosts in remote_hosts'},
		on: onFlag,
	},
	async run(app, input) {
		if (input.has('why') && input.has('leave')) {
			throw new CanhazgpuError('usage', '--why and --leave cannot be combined', {
				hint: 'Leave out one of them.',
			});
		}

		if (input.has('while-empty') && !input.has('leave')) {
			throw new CanhazgpuError('usage', '--while-empty works only with --leave', {hint: 'Add --leave ID.'});
		}

		if (input.has('all')) {
			const other = ['leave', 'on', 'why'].find((flag) => input.has(flag));
			if (other !== undefined) {
				throw new CanhazgpuError('usage', `--all shows every host, so it cannot be combined with --${other}`, {
					hint: 'Leave out one of them.',
				});
			}

			const {showQueues} = await import('./shared/hosts/host-queues.js');
			return showQueues(app, input);
		}

		const exitCode = await runOnNamedHost(app, input, queue);
		if (exitCode !== undefined) {
			return exitCode;
		}

		return withWorld(app, {}, async (world) => {
			// The table shortens long ids. Users copy a shortened id together with its ellipsis.
			const id = input.text('leave')?.replace(/(?<=.)…$/v, '');
			if (id !== undefined) {
				await leave(app, world, {id, isJson: input.has('json'), isWhileEmpty: input.has('while-empty')});
				return 0;
			}

			const snapshot = await readForDisplay(world);
			const rows = queueRows(snapshot);
			if (input.config.get('queue.json') === true) {
				app.print(harmlessJson(queueJson(rows, ownLimits(app, world, snapshot))));
			} else {
				const {now} = snapshot;
				app.print(
					rows.length === 0
						? 'Nobody waits'
						: input.has('why')
							? queueWhy(rows, app.paint, now)
							: queueTable(rows, app.paint, {now, width: app.columns}),
				);
				const loss = await recentLossText(snapshot);
				if (loss !== undefined) {
					app.remark(`Warning: ${loss}`);
				}

				if (world.engine !== undefined) {
					app.remark(engineText(await world.engine.label()));
				}
			}

			return 0;
		});
	},
};
