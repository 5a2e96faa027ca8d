import fc from 'fast-check';
import {expect, test} from 'vitest';
import {emptyPlan} from '../../../source/core/model/plan.js';
import {findOutput} from '../../../source/commands/jobs/logs.js';
import {submitTestJobs} from '../../_helpers/jobs.js';
import {createTestWorld, person} from '../../_helpers/world.js';
import {linesOfLog} from '../../../source/commands/top/job-logs.js';

test('linesOfLog keeps the indentation, and reduces a progress bar to its last state', () => {
	expect(linesOfLog('start\n\tloss 0.5\r\n  3%|#\r100%|####\n\ndone\n')).toEqual([
		'start',
		'    loss 0.5',
		'100%|####',
		'',
		'done',
	]);
	expect(linesOfLog('\u{1B}[31mred\u{1B}[0m \u{1B}]0;title\u{7}text')).toEqual(['red text']);
});

test('linesOfLog never returns control characters', () => {
	fc.assert(
		fc.property(fc.string({unit: 'binary'}), (text) => {
			expect(linesOfLog(text).join('')).not.toMatch(/\p{Control}/v);
		}),
	);
});

test('the output of a job counts as complete if the store has lost the record of the job, and nobody writes it back', async () => {
	const world = await createTestWorld();
	await submitTestJobs(world);
	const {hasEnded} = await findOutput({requester: () => person('alice'), clock: world.clock}, world, '1');
	expect(await hasEnded()).toBe(false);
	await world.memory.commit({...emptyPlan, writes: [{kind: 'forget-job', number: 1}]});
	expect(await hasEnded()).toBe(false);
	world.pass(299);
	expect(await hasEnded()).toBe(false);
	world.pass(2);
	expect(await hasEnded()).toBe(true);
});
