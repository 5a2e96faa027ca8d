/** Draws charts with uPlot. In a separate file, which is loaded with the first chart. */
import UPlot from 'uplot';
import type {PercentJson} from '../../api/utilization-json.js';
import type {ChartData} from './chart-data.js';

const height = 180;

export type Plot = {
	readonly setData: (data: ChartData) => void;
	readonly destroy: () => void;
};

/** The colors of the series. The first series is the time, which is not drawn. */
const seriesColors = [undefined, '--chart-use', '--chart-memory'] as const;

const styled = (index: number): string => {
	const name = seriesColors[index];
	return name === undefined ? 'transparent' : `var(${name})`;
};

/** Returns a color for the canvas. Called for each drawing, because printing uses other colors. */
const color = (name: string): string => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

const axis = (more: UPlot.Axis): UPlot.Axis => ({
	stroke: () => color('--faint'),
	grid: {stroke: () => color('--line'), width: 1},
	ticks: {show: false},
	font: '11px system-ui',
	...more,
});

const series = (label: string, index: 1 | 2, dash?: number[]): UPlot.Series => ({
	label,
	dash,
	stroke: () => color(seriesColors[index]),
	fill: () => `${color(seriesColors[index])}1f`,
	width: 1.6,
	points: {show: false},
	value: (_, value: PercentJson | undefined) => (value === null || value === undefined ? '–' : `${value} %`),
});

const optionsOf = (width: number, timeOfDay: (timeMs: number) => string): UPlot.Options => ({
	width,
	height,
	// The last label of the time axis extends beyond the chart by half its width.
	padding: [8, 18, 0, 0],
	cursor: {y: false, points: {size: 6}},
	scales: {y: {range: [0, 100]}},
	axes: [
		axis({space: 70, size: 30, values: (_, times) => times.map((time) => timeOfDay(time * 1000))}),
		axis({size: 44, values: (_, marks) => marks.map((mark) => `${mark} %`)}),
	],
	series: [
		{label: 'Time', value: (_, time: PercentJson) => (time === null ? '–' : timeOfDay(time * 1000))},
		series('Use', 1),
		// The dashes make this curve recognizable without its color.
		series('Memory', 2, [6, 3]),
	],
	legend: {
		markers: {
			stroke: (_, index) => styled(index),
			fill: (_, index) => `color-mix(in srgb, ${styled(index)} 12%, transparent)`,
		},
	},
});

// UPlot does not modify its data, although its types allow that.
const plotted = (data: ChartData): UPlot.AlignedData => data as unknown as UPlot.AlignedData;

export function createPlot(holder: HTMLElement, data: ChartData, timeOfDay: (timeMs: number) => string): Plot {
	const plot = new UPlot(optionsOf(Math.max(200, holder.clientWidth), timeOfDay), plotted(data), holder);
	const resized = new ResizeObserver(() => {
		if (holder.clientWidth > 0 && holder.clientWidth !== plot.width) {
			plot.setSize({width: holder.clientWidth, height});
		}
	});
	resized.observe(holder);
	// Draws the canvas again, because printing does not change its colors.
	const paper = matchMedia('print');
	const redraw = (): void => {
		plot.redraw(false);
	};

	paper.addEventListener('change', redraw);
	return {
		setData(next) {
			plot.setData(plotted(next));
		},
		destroy() {
			resized.disconnect();
			paper.removeEventListener('change', redraw);
			plot.destroy();
		},
	};
}
