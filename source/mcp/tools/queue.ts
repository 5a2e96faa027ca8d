import * as v from 'valibot';
import {readForDisplay} from '../../core/operations/transact.js';
import {queueRows} from '../../core/rules/queue/queue-rows.js';
import {CanhazgpuError, quoted} from '../../errors.js';
import {queueJson} from '../../format/tables/queue-table.js';
import {queueWhy, queueWords} from '../../format/queue/why.js';
import {createPaint} from '../../format/text/paint.js';
import {text} from '../input.js';
import {defineTool} from '../tool.js';

export const queue = defineTool({
	name: 'gpu_queue',
	title: 'GPU queue',
	description: 'Lists the requests that wait for GPUs, in order, with the expected time until each is served.',
	input: v.strictObject({}),
	output: 'queue',
	isReadOnly: true,
	async call({world}) {
		const rows = queueRows(await readForDisplay(world));
		return {json: queueJson(rows), words: queueWords(rows)};
	},
});

export const why = defineTool({
	name: 'gpu_why',
	title: 'Why a request waits',
	description:
		'Explains why requests wait: who holds the GPUs that they need, until when, and what else they are waiting for.',
	input: v.strictObject({
		entry_id: v.optional(text('only the queue entry whose id, as shown by gpu_queue, starts with this')),
	}),
	output: 'queue',
	isReadOnly: true,
	async call({world}, {entry_id: id}) {
		const snapshot = await readForDisplay(world);
		const rows = queueRows(snapshot).filter((row) => id === undefined || row.id.startsWith(id));
		if (rows.length === 0 && id !== undefined) {
			throw new CanhazgpuError('not-found', `No queue entry has the id ${quoted(id)}`, {
				hint: 'See who is waiting: gpu_queue.',
			});
		}

		return {
			json: queueJson(rows),
			words: rows.length === 0 ? queueWords(rows) : queueWhy(rows, createPaint(false, {}), snapshot.now),
		};
	},
});
