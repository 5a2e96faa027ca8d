/** The report of use, made when its panel is shown. */
import type {World} from '../../core/model/ports.js';
import {byDay, byGpu, byModel, byUser, type Report, type Split} from '../../core/rules/pool/report.js';
import {reportOf} from '../../core/operations/history/report.js';
import {localDay} from '../../format/text/days.js';
import {type ReportKind, reportDays} from '../state/panels/state.js';
import type {State} from '../state/state.js';
import type {Dispatch} from '../state/actions.js';
import {useAgain} from './use-again.js';

const splits: Readonly<Record<ReportKind, Split>> = {user: byUser, gpu: byGpu, day: byDay(localDay), model: byModel};

/** Days stand in their own order, the newest first. */
async function shownReport(world: World, by: ReportKind): Promise<Report> {
	const made = await reportOf(world, {days: reportDays, split: splits[by]});
	return by === 'day' ? {...made, rows: made.rows.toSorted((a, b) => b.key.localeCompare(a.key, 'en'))} : made;
}

/** Makes the report that is shown, and again each minute for as long as it is. */
export function useReport(world: World, {panels}: State, dispatch: Dispatch, broken: (error: unknown) => void): void {
	const {focus, reportBy: by} = panels;
	useAgain(
		{
			isShown: focus === 'report',
			read: async () => shownReport(world, by),
			arrived(report) {
				dispatch({kind: 'report-arrived', report: {kind: 'made', by, report}});
			},
			failed(reason) {
				dispatch({kind: 'report-arrived', report: {kind: 'failed', by, reason}});
			},
			broken,
		},
		[world, dispatch, by],
	);
}
