/** Reads data that only one panel needs, while that panel is shown. */
import {useEffect, useRef} from 'react';
import {CanhazgpuError} from '../../errors.js';
import type {World} from '../../core/model/ports.js';
import {readPast, type Past} from '../../core/operations/history/past.js';
import {sanitize} from '../../format/text/text.js';
import {shownRangeOf} from '../layout.js';
import {ownRange, type ReportDays, type ReportKind} from '../state/panels/state.js';
import {storeNow} from '../state/state.js';
import {useDispatch, useMonitor, useStore} from '../state/use-monitor.js';
import {byDay, byGpu, byModel, byUser, type Report, type Split} from '../../core/rules/pool/report.js';
import {reportOf} from '../../core/operations/history/report.js';
import {localDay} from '../../format/text/days.js';

/** Age in ms at which the data of a visible panel is read again. */
const freshMs = 60_000;
/** Interval in ms between attempts while the store is unreachable. */
const retryMs = 5000;

type Reader<Value> = {
	readonly isShown: boolean;
	readonly read: () => Promise<Value>;
	readonly arrived: (value: Value) => void;
	readonly failed: (reason: string) => void;
	readonly broken: (error: unknown) => void;
};

/** Reads the data of a panel repeatedly. `of` lists what the data depends on. If one of these values changes, the data is read again at once. */
export function useReadAgain<Value>(
	{isShown, read, arrived, failed, broken}: Reader<Value>,
	of: readonly unknown[],
): void {
	useEffect(() => {
		if (!isShown) {
			return;
		}

		let isOver = false;
		let timer: NodeJS.Timeout | undefined;
		const readOnce = async (): Promise<void> => {
			let nextMs = freshMs;
			try {
				const value = await read();
				if (!isOver) {
					arrived(value);
				}
			} catch (error) {
				if (!(error instanceof CanhazgpuError)) {
					broken(error);
					return;
				}

				nextMs = retryMs;
				if (!isOver) {
					failed(error.message);
				}
			}

			if (!isOver) {
				timer = setTimeout(() => {
					void readOnce();
				}, nextMs);
			}
		};

		void readOnce();
		return () => {
			isOver = true;
			clearTimeout(timer);
		};
	}, [isShown, broken, ...of]);
}

/** Reads the pool's load history for graphs that begin before this session. Adds new values each minute. */
export function usePast(world: World, broken: (error: unknown) => void): void {
	const dispatch = useDispatch();
	const {getState} = useStore();
	const range = useMonitor(shownRangeOf);
	const isShown = useMonitor(({snapshot}) => snapshot !== undefined) && range > ownRange;
	const known = useRef<Past>(undefined);
	useReadAgain(
		{
			isShown,
			read: async () => readPast(world, {now: storeNow(getState())!, seconds: range * 60}, known.current),
			arrived(past) {
				known.current = past;
				dispatch({kind: 'past-arrived', past: {kind: 'read', past}});
			},
			failed(reason) {
				dispatch({kind: 'past-arrived', past: {kind: 'failed', reason: sanitize(reason)}});
			},
			broken,
		},
		[world, dispatch, range],
	);
}

const splits: Readonly<Record<ReportKind, Split>> = {user: byUser, gpu: byGpu, day: byDay(localDay), model: byModel};

async function shownReport(world: World, by: ReportKind, days: ReportDays): Promise<Report> {
	const made = await reportOf(world, {days, split: splits[by]});
	return by === 'day' ? {...made, rows: made.rows.toSorted((a, b) => b.key.localeCompare(a.key, 'en'))} : made;
}

export function useReport(world: World, broken: (error: unknown) => void): void {
	const dispatch = useDispatch();
	const {focus, reportBy: by, reportDays: days} = useMonitor(({panels}) => panels);
	useReadAgain(
		{
			isShown: focus === 'report',
			read: async () => shownReport(world, by, days),
			arrived(report) {
				dispatch({kind: 'report-arrived', report: {kind: 'made', by, days, report}});
			},
			failed(reason) {
				dispatch({kind: 'report-arrived', report: {kind: 'failed', by, days, reason}});
			},
			broken,
		},
		[world, dispatch, by, days],
	);
}
