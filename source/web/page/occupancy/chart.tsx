import type {OccupancyJson} from '../../api/occupancy-json.js';
import type {GpuUtilizationJson, UtilizationJson} from '../../api/utilization-json.js';
import {personOf, counted, dateText, duration, holderName, timeOfDay} from '../text.js';
import {coveredPart, lanesOf, marksOf, roomOf, curveOf, type Span} from './geometry.js';
import {swatchesOf, swatchStyle, type Swatch} from './swatch.js';

type HeldJson = OccupancyJson['spans'][number];

export type Bar = Span & {
	readonly user: string;
	readonly held: HeldJson;
	readonly isPlanned: boolean;
};

const futurePart = 0.2;

/** Returns the period that the chart shows: the period of the answer, and some time after it for reservations that continue. */
export function windowOf({since, until}: OccupancyJson): Span & {readonly nowMs: number} {
	const fromMs = Date.parse(since);
	const nowMs = Date.parse(until);
	return {fromMs, nowMs, toMs: nowMs + (nowMs - fromMs) * (futurePart / (1 - futurePart))};
}

function barsOf(held: HeldJson, {nowMs, toMs}: ReturnType<typeof windowOf>): readonly Bar[] {
	const user = holderName(held);
	const past: Bar = {
		user,
		held,
		isPlanned: false,
		fromMs: Date.parse(held.start_time),
		toMs: held.is_held ? nowMs : Date.parse(held.end_time),
	};
	if (!held.is_held) {
		return [past];
	}

	// If the end of a reservation is unknown, as for many jobs, its bar has no planned part.
	const endMs = held.ends_by === undefined ? nowMs : Date.parse(held.ends_by);
	const planned: Bar = {user, held, isPlanned: true, fromMs: nowMs, toMs: Math.min(endMs, toMs)};
	return endMs > nowMs ? [past, planned] : [past];
}

function titleOf({user, held, fromMs, toMs, isPlanned}: Bar): string {
	const {note, lease_count: count, memory_mb: memory, reservation_type: type, ends_by: end} = held;
	return [
		count > 1 ? `${counted(count, 'short reservation')}, most of them by ${user}` : user,
		isPlanned ? 'reserved' : duration(toMs - fromMs),
		`${dateText(fromMs)} – ${held.is_held && !isPlanned ? 'now' : dateText(isPlanned ? end! : toMs)}`,
		type === 'run' ? 'job' : 'reservation',
		memory === undefined ? '' : `share of ${(memory / 1024).toFixed(0)} GiB`,
		note ?? '',
	]
		.filter((part) => part !== '')
		.join(' · ');
}

function summaryOf(
	gpu: number,
	bars: readonly Bar[],
	{fromMs, nowMs}: ReturnType<typeof windowOf>,
	use: GpuUtilizationJson | undefined,
): string {
	const past = bars.filter(({isPlanned}) => !isPlanned);
	const people = [...Map.groupBy(past, ({user}) => user)].map(
		([user, own]) => `${user} ${duration(own.reduce((sum, bar) => sum + bar.toMs - bar.fromMs, 0))}`,
	);
	const percent = Math.round(coveredPart(past, {fromMs, toMs: nowMs}) * 100);
	const known = (use?.utilization ?? []).filter((value) => value !== null);
	const mean = Math.round(known.reduce((sum, value) => sum + value, 0) / known.length);
	return [
		`GPU ${gpu}: ${people.length === 0 ? 'held by nobody' : `${people.join(', ')}; held for ${percent} % of the time`}`,
		...(known.length === 0 ? [] : [`mean use in the last day: ${mean} %`]),
	].join('; ');
}

type RowProps = {
	readonly gpu: number;
	readonly bars: readonly Bar[];
	readonly window: ReturnType<typeof windowOf>;
	readonly swatches: ReadonlyMap<string, Swatch>;
	readonly use: UtilizationJson | undefined;
	readonly chosen: string;
};

function Row({gpu, bars, window, swatches, use, chosen}: RowProps) {
	const own = use?.gpus[gpu];
	const lanes = lanesOf(bars);
	const count = Math.max(1, ...lanes.map((lane) => lane + 1));
	const percent = (ms: number): string => `${((ms / (window.toMs - window.fromMs)) * 100).toFixed(3)}%`;
	return (
		<li class="occupancy-row">
			<a class="occupancy-gpu" href={`#/gpu/${gpu}`}>
				<span class="occupancy-word">GPU </span>
				{gpu}
			</a>
			<svg class="occupancy-curve" viewBox="0 0 1000 100" preserveAspectRatio="none" aria-hidden="true">
				{own && <path d={curveOf(own.utilization, use, window)} />}
			</svg>
			<div
				class="occupancy-track"
				role="img"
				aria-label={summaryOf(gpu, bars, window, own)}
				style={{'--lanes': String(count)}}
			>
				{bars.map((bar, index) => (
					<span
						key={`${bar.held.lease_id ?? bar.held.start_time} ${bar.held.start_time} ${String(bar.isPlanned)}`}
						class="span"
						data-pattern={swatches.get(bar.user)?.pattern}
						data-planned={bar.isPlanned ? '' : undefined}
						data-dim={chosen !== '' && chosen !== bar.user ? '' : undefined}
						title={titleOf(bar)}
						style={{
							...swatchStyle(swatches.get(bar.user)),
							left: percent(bar.fromMs - window.fromMs),
							width: percent(bar.toMs - bar.fromMs),
							top: `${((lanes[index]! / count) * 100).toFixed(2)}%`,
						}}
					>
						{!bar.isPlanned && <span class="span-name">{personOf(bar.user).name}</span>}
					</span>
				))}
			</div>
		</li>
	);
}

const dayForm = new Intl.DateTimeFormat(undefined, {weekday: 'short', day: 'numeric'});

/** Maximum number of GPUs with rows of full height. With more GPUs, the rows are less tall. */
const mostRoomy = 16;

type ChartProps = {
	readonly occupancy: OccupancyJson;
	readonly use: UtilizationJson | undefined;
	readonly hours: number;
	readonly chosen: string;
};

export function OccupancyChart({occupancy, use, hours, chosen}: ChartProps) {
	const window = windowOf(occupancy);
	const byGpu = Map.groupBy(
		occupancy.spans.flatMap((held) => barsOf(held, window)),
		({held}) => held.gpu_id,
	);
	const swatches = swatchesOf(occupancy.spans.map((held) => holderName(held)));
	const isDay = hours <= 24;
	const leftOf = (ms: number): string =>
		`${(((ms - window.fromMs) / (window.toMs - window.fromMs)) * 100).toFixed(3)}%`;
	return (
		<div class="occupancy panel" data-dense={occupancy.gpu_count > mostRoomy ? '' : undefined}>
			<div class="occupancy-axis" aria-hidden="true">
				{marksOf(window, isDay ? 6 : 24).map((ms) => (
					<span key={ms} class="mark" data-room={roomOf(ms, window, isDay ? 'time' : 'day')} style={{left: leftOf(ms)}}>
						<span class="mark-words">{isDay ? timeOfDay(ms) : dayForm.format(new Date(ms))}</span>
					</span>
				))}
				<span class="mark now" style={{left: leftOf(window.nowMs)}}>
					<span class="mark-words">now</span>
				</span>
			</div>
			<ol>
				{Array.from({length: occupancy.gpu_count}, (_, gpu) => (
					<Row
						key={gpu}
						gpu={gpu}
						bars={byGpu.get(gpu) ?? []}
						window={window}
						swatches={swatches}
						use={use}
						chosen={chosen}
					/>
				))}
			</ol>
		</div>
	);
}
