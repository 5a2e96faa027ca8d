import * as v from 'valibot';
import {reportJson, reportWords} from '../../format/tables/report.js';
import {text, whole} from '../input.js';
import {defineTool} from '../tool.js';

const by = v.pipe(
	v.picklist(['user', 'gpu', 'day', 'model']),
	v.description('what the hours are grouped by. The default is user.'),
);

export const report = defineTool({
	name: 'gpu_report',
	title: 'GPU hours',
	description: 'Reports the GPU hours reserved over a number of days, by user, GPU, day or model.',
	input: v.strictObject({
		days: v.optional(whole(1, 36_500, 'the number of days to report on. The default is 30.'), 30),
		by: v.optional(by, 'user'),
		user: v.optional(text('report only on this user')),
	}),
	output: 'report',
	isReadOnly: true,
	async call(call, question) {
		const made = await call.report(question);
		return {json: reportJson(made, question.by), words: reportWords(made, question.days)};
	},
});
