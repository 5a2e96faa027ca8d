import {useEffect, useRef, useState} from 'preact/hooks';
import {forgetFailedImports} from '../late.js';
import {Chips} from '../shared/chips.js';
import {useObservable} from '../shared/hooks.js';
import type {Utilization} from '../state/state.js';
import {theme} from '../theme.js';
import {counted, timeOfDay} from '../text.js';
import {fetchChart, withNewest, type ChartData} from './chart-data.js';
import type {Plot} from './plot.js';

const periods = [
	[15, '15 min'],
	[60, '1 h'],
	[360, '6 h'],
	[1440, '24 h'],
] as const;

type Minutes = (typeof periods)[number][0];

type Fetched = {readonly minutes: Minutes; readonly data: ChartData};

function summaryOf({minutes, data}: Fetched): string {
	const [, utilization, memory] = data;
	const known = utilization.filter((value) => value !== null);
	if (known.length === 0) {
		// For a GPU that is split by MIG, only the memory is known.
		return memory.some((value) => value !== null)
			? 'Only the memory of this GPU is known.'
			: 'Nothing has been recorded yet.';
	}

	const mean = Math.round(known.reduce((sum, value) => sum + value, 0) / known.length);
	return `Mean use over the last ${counted(minutes, 'minute')}: ${mean} %, at most ${Math.max(...known)} %.`;
}

/** Requests the chart when the period changes or values were missed. Appends each new value. */
function useChartData(
	gpu: number,
	minutes: Minutes,
	utilization: Utilization,
): {readonly fetched: Fetched | undefined; readonly problem: string | undefined} {
	const [fetched, setFetched] = useState<Fetched>();
	const [problem, setProblem] = useState<string>();
	useEffect(() => {
		let isOld = false;
		const load = async (): Promise<void> => {
			try {
				const data = await fetchChart(gpu, minutes);
				if (!isOld) {
					setFetched({minutes, data});
					setProblem(undefined);
				}
			} catch (error) {
				// The chart is requested again when the server is back.
				setProblem((before) => (isOld ? before : error instanceof Error ? error.message : String(error)));
			}
		};

		void load();
		return () => {
			isOld = true;
		};
	}, [gpu, minutes, utilization.fetches]);
	useEffect(() => {
		setFetched((known) => known && {...known, data: withNewest(known.data, utilization, gpu)});
	}, [utilization]);
	return {fetched, problem};
}

type ChartProps = {readonly gpu: number; readonly utilization: Utilization};

export function Chart({gpu, utilization}: ChartProps) {
	const [minutes, setMinutes] = useState<Minutes>(15);
	const [hasFailed, setFailed] = useState(false);
	const {fetched, problem} = useChartData(gpu, minutes, utilization);
	const shownTheme = useObservable(theme);
	const holder = useRef<HTMLDivElement>(null);
	const plot = useRef<Plot>(undefined);
	const newest = useRef<ChartData>(undefined);
	newest.current = fetched?.data;
	const hasData = fetched !== undefined;
	// Draws the canvas again, because a change of the theme does not change its colors.
	useEffect(() => {
		if (!hasData) {
			return;
		}

		let isEnded = false;
		const draw = async (): Promise<void> => {
			try {
				const {createPlot} = await import('./plot.js');
				if (!isEnded) {
					plot.current = createPlot(holder.current!, newest.current!, timeOfDay);
				}
			} catch {
				forgetFailedImports();
				setFailed(true);
			}
		};

		void draw();
		return () => {
			isEnded = true;
			plot.current?.destroy();
			plot.current = undefined;
		};
	}, [shownTheme, hasData]);
	useEffect(() => {
		if (fetched !== undefined) {
			plot.current?.setData(fetched.data);
		}
	}, [fetched]);
	const summary = fetched === undefined ? (problem ?? 'Loading…') : summaryOf(fetched);
	return (
		<div class="chart-box">
			<div class="chart-head">
				<h4>{`Use of GPU ${gpu} over time`}</h4>
				<Chips label="Period of the chart" choices={periods} chosen={minutes} choose={setMinutes} />
			</div>
			<div ref={holder} class="chart" role="img" aria-label={`Use of GPU ${gpu}. ${summary}`.trim()} />
			<p class="chart-words">{hasFailed ? 'The chart cannot be loaded. Reload the page.' : summary}</p>
		</div>
	);
}
