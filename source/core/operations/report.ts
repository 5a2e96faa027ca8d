/** The report of the last days, as every face shows it. */
import {CanhazgpuError} from '../../errors.js';
import type {World} from '../model/ports.js';
import {liveUsage, makeReport, type Report, type Split} from '../rules/pool/report.js';
import {readToShow} from './transact.js';

const secondsPerDay = 86_400;

export type ReportQuestion = {
	/** How far back. */
	readonly days: number;
	readonly split: Split;
	/** Only this one's. */
	readonly user?: string;
};

/** An account that may not search the store reports what is in the history. */
async function takeOverHistory({store}: World): Promise<void> {
	try {
		await store.takeOverHistory?.();
	} catch (error) {
		if (!(error instanceof CanhazgpuError && error.code === 'store-refused')) {
			throw error;
		}
	}
}

/** Most hours first. Rejects with a CanhazgpuError where the store does. */
export async function reportOf(world: World, {days, split, user}: ReportQuestion): Promise<Report> {
	const snapshot = await readToShow(world);
	await takeOverHistory(world);
	const window = {from: snapshot.now - days * secondsPerDay, to: snapshot.now};
	return makeReport(world.store.history(window.from, window.to), liveUsage(snapshot), {window, split, user});
}
