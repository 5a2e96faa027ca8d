/** The use of one GPU over time, drawn by uPlot. */
import UPlot from '../../../../../../vendor/uplot.js';
import {make, setAttribute, setText} from './dom.page.js';
import {clock, counted} from './words.page.js';

const height = 180;
const periods = [
	[15, '15 min'],
	[60, '1 h'],
	[360, '6 h'],
];

const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

const axis = (more) => ({
	stroke: colour('--faint'),
	grid: {stroke: colour('--line'), width: 1},
	ticks: {show: false},
	font: '11px system-ui',
	...more,
});

const percent = (_, value) => (value === null || value === undefined ? '–' : `${value} %`);

const series = (label, name) => ({
	label,
	stroke: colour(name),
	fill: `${colour(name)}1f`,
	width: 1.6,
	points: {show: false},
	value: percent,
});

const optionsOf = (width) => ({
	width,
	height,
	padding: [8, 8, 0, 0],
	cursor: {y: false, points: {size: 6}},
	scales: {y: {range: [0, 100]}},
	axes: [
		axis({space: 70, size: 30, values: (_, marks) => marks.map((mark) => clock(mark * 1000))}),
		axis({size: 44, values: (_, marks) => marks.map((mark) => `${mark} %`)}),
	],
	series: [
		{label: 'Time', value: (_, time) => (time === null ? '–' : clock(time * 1000))},
		series('Use', '--chart-use'),
		series('Memory', '--chart-memory'),
	],
});

/** What the picture shows, for those who do not see it. */
function summaryOf([, utilization], minutes) {
	const known = utilization.filter((value) => value !== null);
	if (known.length === 0) {
		return 'Nothing was recorded yet.';
	}

	const mean = Math.round(known.reduce((sum, value) => sum + value, 0) / known.length);
	return `Mean use over the last ${counted(minutes, 'minute')}: ${mean} %, at most ${Math.max(...known)} %.`;
}

export function useChart(gpuId, use) {
	let minutes = periods[0][0];
	let plot;
	let data;
	let isEnded = false;
	let wanted = 0;
	const holder = make('div', {class: 'chart', role: 'img'});
	const words = make('p', {class: 'chart-words'});
	const buttons = periods.map(([length, label]) =>
		make(
			'button',
			{
				type: 'button',
				class: 'chip',
				'aria-pressed': String(length === minutes),
				on: {
					click() {
						minutes = length;
						for (const [place, button] of buttons.entries()) {
							setAttribute(button, 'aria-pressed', String(periods[place][0] === minutes));
						}

						void draw();
					},
				},
			},
			label,
		),
	);

	async function draw() {
		wanted++;
		const own = wanted;
		try {
			const fetched = await use.fetchLong(gpuId, minutes);
			if (!isEnded && own === wanted) {
				data = fetched;
				show();
			}
		} catch {
			// The banner says that the server is away; when it is back, it is asked again.
		}
	}

	function show() {
		setText(words, summaryOf(data, minutes));
		setAttribute(holder, 'aria-label', `Use of GPU ${gpuId}. ${words.textContent}`);
		if (plot === undefined) {
			plot = new UPlot(optionsOf(Math.max(200, holder.clientWidth)), data, holder);
		} else {
			plot.setData(data);
		}
	}

	const resized = new ResizeObserver(() => {
		if (plot !== undefined && holder.clientWidth > 0 && holder.clientWidth !== plot.width) {
			plot.setSize({width: holder.clientWidth, height});
		}
	});
	resized.observe(holder);

	/** Its colours are drawn, not styled. */
	const redraw = () => {
		plot?.destroy();
		plot = undefined;
		void draw();
	};

	addEventListener('themechange', redraw);
	const element = make(
		'div',
		{class: 'chart-box'},
		make(
			'div',
			{class: 'chart-head'},
			make('h4', {}, 'Use over time'),
			make('div', {class: 'chips', role: 'group', 'aria-label': 'Period of the chart'}, ...buttons),
		),
		holder,
		words,
	);
	void draw();
	return {
		element,
		draw,
		/** The newest value, without asking for all the others again. */
		append(time, utilization, memory) {
			if (data === undefined || !(time > (data[0].at(-1) ?? 0))) {
				return;
			}

			const added = [time, utilization, memory];
			data = data.map((values, place) => [...values.slice(1), added[place]]);
			show();
		},
		end() {
			isEnded = true;
			removeEventListener('themechange', redraw);
			resized.disconnect();
			plot?.destroy();
		},
	};
}
