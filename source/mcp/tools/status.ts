import * as v from 'valibot';
import {readStatus} from '../../core/operations/reservations.js';
import {statusJson} from '../../format/json/status-json.js';
import {statusWords} from '../../format/tables/status-words.js';
import {defineTool} from '../tool.js';

export const status = defineTool({
	name: 'gpu_status',
	title: 'GPU status',
	description:
		'Shows every GPU of this machine: who holds it and until when, what runs on it, and how much memory is in use. A GPU whose state is unknown is never free.',
	input: v.strictObject({}),
	output: 'status',
	isReadOnly: true,
	async call({world}) {
		const {rows, observation} = await readStatus(world);
		return {json: statusJson(rows, observation), words: statusWords(rows, observation)};
	},
});
