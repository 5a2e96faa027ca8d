/** Implements the buttons for jobs in `web --mine` with the functions behind `cancel` and `retry`. */
import type {App} from '../../app/contract.js';
import type {OwnJobs} from '../../web/act/own-jobs.js';
import {cancelAndWait} from './cancel-and-wait.js';
import {findOwnJobs} from './list-jobs.js';
import {startAgain} from './start-again.js';

const patienceMs = 1500;

export const createOwnJobs = (app: App): OwnJobs => ({
	async cancel(world, requester, id) {
		await findOwnJobs(world, requester, id);
		const {cancelled, stuck} = await cancelAndWait(app, world, {
			requester,
			ids: [id],
			via: 'web',
			aborted: AbortSignal.timeout(patienceMs),
		});
		return {cancelled, isEnding: stuck !== undefined};
	},
	async retry(world, requester, id) {
		await findOwnJobs(world, requester, id);
		const remarks: string[] = [];
		const remarking = {
			...app,
			remark(words: string) {
				remarks.push(words);
			},
		};
		const {failure} = await startAgain(remarking, world, requester, {ids: [id]});
		if (failure !== undefined) {
			throw failure;
		}

		return remarks;
	},
});
