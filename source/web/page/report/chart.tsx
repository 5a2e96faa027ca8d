/** A chart with a stacked column for each day of a period, or for each hour of a short period. */
import {useState} from 'preact/hooks';
import type {ReportSeries} from '../fields.js';
import {swatchesOf, swatchStyle} from '../occupancy/swatch.js';
import {hourText} from '../shared/hours.js';
import {dateText, isolated} from '../text.js';

const dayForm = new Intl.DateTimeFormat(undefined, {weekday: 'short', month: 'short', day: 'numeric', timeZone: 'UTC'});

/** Whether a bin is a day. Such a bin is named by its date in the host's time zone. */
const isDay = (bin: string): boolean => bin.length === 'yyyy-mm-dd'.length;

const binText = (bin: string): string => (isDay(bin) ? dayForm.format(new Date(bin)) : dateText(bin));

const total = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0);

/** Maximum values for an axis. Half of each is also a round number, because the axis also shows half of its maximum. */
const roundSteps = [1, 1.2, 1.6, 2, 3, 4, 5, 6, 8];

function roundedUp(value: number): number {
	const power = 10 ** Math.floor(Math.log10(value));
	return (roundSteps.find((step) => step * power >= value) ?? 10) * power;
}

type Row = {readonly name: string; readonly hours: readonly number[]; readonly isOther: boolean};

const rowsOf = ({rows, other_gpu_hours: others}: ReportSeries): readonly Row[] => [
	...rows.map(({name, gpu_hours: hours}) => ({name, hours, isOther: false})),
	...(others === undefined ? [] : [{name: 'All others', hours: others, isOther: true}]),
];

type ColumnProps = {
	readonly rows: readonly Row[];
	readonly index: number;
	readonly top: number;
	readonly swatches: ReturnType<typeof swatchesOf>;
};

const Column = ({rows, index, top, swatches}: ColumnProps) => (
	<>
		{rows.map(({name, hours, isOther}) =>
			hours[index]! > 0 ? (
				<span
					key={isOther ? '' : name}
					class="part"
					data-pattern={isOther ? undefined : swatches.get(name)?.pattern}
					data-other={isOther ? '' : undefined}
					style={{
						...(!isOther && swatchStyle(swatches.get(name))),
						height: `${((hours[index]! / top) * 100).toFixed(3)}%`,
					}}
				/>
			) : undefined,
		)}
	</>
);

function wordsOf(rows: readonly Row[], bin: string, index: number): string {
	const parts = rows
		.filter(({hours}) => hours[index]! > 0)
		.toSorted((a, b) => b.hours[index]! - a.hours[index]!)
		.map(({name, hours}) => `${isolated(name)} ${hourText(hours[index])}`);
	const sum = hourText(total(rows.map(({hours}) => hours[index]!)));
	return [`${binText(bin)}: ${sum} GPU hours`, ...parts].join(' · ');
}

type ReportChartProps = {readonly series: ReportSeries; readonly isOld: boolean};

export function ReportChart({series, isOld}: ReportChartProps) {
	const {bins} = series;
	const rows = rowsOf(series);
	const [pointed, setPointed] = useState<number>();
	const sums = bins.map((_, index) => total(rows.map(({hours}) => hours[index]!)));
	const most = Math.max(...sums);
	const top = roundedUp(Math.max(most, 0.01));
	const shown = pointed !== undefined && pointed < bins.length ? pointed : sums.indexOf(most);
	const swatches = swatchesOf(rows.filter(({isOther}) => !isOther).map(({name}) => name));
	const title = isDay(bins[0]!) ? 'GPU hours by day' : 'GPU hours by hour';
	return (
		<figure class="report-chart panel" data-old={isOld ? '' : undefined}>
			<figcaption>{title}</figcaption>
			<div
				class="bars"
				role="img"
				style={{'--columns': String(bins.length)}}
				aria-label={`${title}, ${binText(bins[0]!)} to ${binText(bins.at(-1)!)}. Highest: ${wordsOf(rows, bins[sums.indexOf(most)]!, sums.indexOf(most))}`}
				onPointerLeave={() => {
					setPointed(undefined);
				}}
			>
				{[1, 0.5].map((part) => (
					<span key={part} class="grid-line" style={{bottom: `${part * 100}%`}}>
						{(top * part).toLocaleString()}
					</span>
				))}
				{bins.map((bin, index) => (
					<span
						key={bin}
						class="column"
						data-pointed={index === pointed ? '' : undefined}
						onPointerEnter={() => {
							setPointed(index);
						}}
					>
						<Column rows={rows} index={index} top={top} swatches={swatches} />
					</span>
				))}
			</div>
			<p class="bar-ends" aria-hidden="true">
				<span>{binText(bins[0]!)}</span>
				<span>{binText(bins.at(-1)!)}</span>
			</p>
			<ul class="legend">
				{rows.map(({name, isOther}) => (
					<li key={isOther ? '' : name}>
						<span
							class="part swatch"
							data-pattern={isOther ? undefined : swatches.get(name)?.pattern}
							data-other={isOther ? '' : undefined}
							style={isOther ? undefined : swatchStyle(swatches.get(name))}
						/>
						{name}
					</li>
				))}
			</ul>
			<p class="pointed-words">{wordsOf(rows, bins[shown]!, shown)}</p>
		</figure>
	);
}
