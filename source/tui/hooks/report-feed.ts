/** The report of use, made when its panel is shown. */
import {useEffect} from 'react';
import {CanhazgpuError} from '../../errors.js';
import type {World} from '../../core/model/ports.js';
import {byDay, byGpu, byModel, byUser, type Report, type Split} from '../../core/rules/pool/report.js';
import {reportOf} from '../../core/operations/history/report.js';
import {localDay} from '../../format/text/days.js';
import type {ReportKind} from '../state/panels/state.js';
import {reportDays} from '../state/report.js';
import type {State} from '../state/state.js';
import type {Dispatch} from '../state/actions.js';

/** Old enough to be made again while it is shown. */
const freshMs = 60_000;

const splits: Readonly<Record<ReportKind, Split>> = {user: byUser, gpu: byGpu, day: byDay(localDay), model: byModel};

/** Days stand in their own order, the newest first. */
async function shownReport(world: World, by: ReportKind): Promise<Report> {
	const made = await reportOf(world, {days: reportDays, split: splits[by]});
	return by === 'day' ? {...made, rows: made.rows.toSorted((a, b) => b.key.localeCompare(a.key, 'en'))} : made;
}

/** Makes the report that is shown, and again each minute for as long as it is. */
export function useReport(world: World, {panels}: State, dispatch: Dispatch, broken: (error: unknown) => void): void {
	const {focus, reportBy: by} = panels;
	const isShown = focus === 'report';
	useEffect(() => {
		if (!isShown) {
			return;
		}

		let isOver = false;
		let timer: NodeJS.Timeout | undefined;
		const make = async (): Promise<void> => {
			try {
				const report = await shownReport(world, by);
				if (!isOver) {
					dispatch({kind: 'report-arrived', report: {kind: 'made', by, report}});
				}
			} catch (error) {
				if (!(error instanceof CanhazgpuError)) {
					broken(error);
					return;
				}

				if (!isOver) {
					dispatch({kind: 'report-arrived', report: {kind: 'failed', by, reason: error.message}});
				}
			}

			if (!isOver) {
				timer = setTimeout(() => {
					void make();
				}, freshMs);
			}
		};

		void make();
		return () => {
			isOver = true;
			clearTimeout(timer);
		};
	}, [world, dispatch, broken, isShown, by]);
}
