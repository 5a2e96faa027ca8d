/** The two lines at the top: the place and age of the values, and the totals. */
import type {ReactElement, ReactNode} from 'react';
import {Box} from 'ink';
import {freeGpus, shownStateOf, type FreeGpus, type StatusRow} from '../../core/rules/pool/status.js';
import {freeText} from '../../format/free-gpus.js';
import {gibibytes, inventory} from '../../format/readings.js';
import {states} from '../../format/states.js';
import {shortDuration} from '../../format/text/durations.js';
import {sanitize} from '../../format/text/text.js';
import {gpuCountOf, rowsOf, storeNow, type State} from '../state/state.js';
import {isMine} from '../state/gpus/row-state.js';
import {useMonitor, useSettings} from '../state/use-monitor.js';
import {useDrawing} from '../themes/drawing-context.js';
import {loadTone, type Tone} from '../themes/tones.js';
import {Label} from '../widgets/label.js';
import {Meter} from '../widgets/meter.js';

/** Blanks between two parts of a line. */
const gap = 2;

/** A part of a line that is never cut. */
export const Fixed = ({children}: {readonly children: ReactNode}): ReactElement => <Box flexShrink={0}>{children}</Box>;

/** A line with parts at both ends. Parts that are not `Fixed` are cut if there is no room. A screen reader gets the whole text. */
export function EdgeLine({left, right}: {readonly left: ReactNode; readonly right: ReactNode}): ReactElement {
	const {frame} = useDrawing();
	if (frame === 'plain') {
		return (
			<Box columnGap={gap} flexWrap="wrap">
				{left}
				{right}
			</Box>
		);
	}

	return (
		<Box height={1} paddingX={1} columnGap={1} justifyContent="space-between" flexShrink={0} overflow="hidden">
			<Box gap={gap} overflow="hidden">
				{left}
			</Box>
			<Box gap={gap} flexShrink={0}>
				{right}
			</Box>
		</Box>
	);
}

/** A word and a number. Zero is faint. */
export function Count({word, count, tone}: {readonly word: string; readonly count: number; readonly tone: Tone}) {
	return (
		<Fixed>
			<Label tone={count > 0 ? tone : 'dim'}>
				{word} {count}
			</Label>
		</Fixed>
	);
}

/** The number of free GPUs, such as `Free 2 +1 MIG`. */
export const FreeCount = ({free}: {readonly free: FreeGpus}): ReactElement => (
	<Fixed>
		<Label tone={free.whole + free.split > 0 ? 'free' : 'dim'}>Free {freeText(free)}</Label>
	</Fixed>
);

/** Time since the screen was paused. */
export function PauseBadge(): ReactElement | undefined {
	const seconds = useMonitor(({pause, nowMs}) => pause && (nowMs - pause.sinceMs) / 1000);
	return seconds === undefined ? undefined : (
		<Fixed>
			<Label tone="warning">[PAUSED {shortDuration(seconds)}]</Label>
		</Fixed>
	);
}

const BadgeText = ({tone, children}: {readonly tone: Tone; readonly children: ReactNode}): ReactElement => (
	<Fixed>
		<Label tone={tone}>{children}</Label>
	</Fixed>
);

/** Whether the values are up to date: `[LIVE]` or `[STALE 14s]`. */
function Badge(): ReactElement | undefined {
	const connection = useMonitor((state) => state.connection);
	const scanFailure = useMonitor((state) => state.scanFailure);
	const isPaused = useMonitor(({pause}) => pause !== undefined);
	const nowMs = useMonitor((state) => state.nowMs);
	const age = (sinceMs: number): string => shortDuration(Math.max(0, nowMs - sinceMs) / 1000);
	switch (connection.kind) {
		case 'connecting': {
			return <BadgeText tone="warning">[CONNECTING]</BadgeText>;
		}

		case 'lost': {
			return <BadgeText tone="error">[STALE {age(connection.sinceMs)}]</BadgeText>;
		}

		case 'live': {
			return scanFailure === undefined ? (
				isPaused ? undefined : (
					<BadgeText tone="success">[LIVE]</BadgeText>
				)
			) : (
				<BadgeText tone="warning">[SCAN FAILED {age(scanFailure.sinceMs)}]</BadgeText>
			);
		}
	}
}

/** Returns the time of the last valid values: the start of the outage, or of an earlier pause. */
function lostAt({connection, snapshot, snapshotAtMs, pause}: State): number | undefined {
	const untilMs = Math.min(connection.kind === 'lost' ? connection.sinceMs : Infinity, pause?.sinceMs ?? Infinity);
	return snapshot && snapshot.now + Math.max(0, untilMs - snapshotAtMs) / 1000;
}

/** Age of the scan, or the time of the values while the store is unreachable. */
function Freshness(): ReactElement {
	const {formatTime} = useSettings();
	const isLost = useMonitor(({connection}) => connection.kind === 'lost');
	const scanFailure = useMonitor((state) => state.scanFailure);
	const valuesFrom = useMonitor(lostAt);
	const takenAtMs = useMonitor(({observation}) => observation?.takenAtMs);
	const nowMs = useMonitor((state) => state.nowMs);
	if (isLost) {
		const time = valuesFrom === undefined ? undefined : formatTime(valuesFrom).slice(0, 5);
		return <Label tone="warning">{time === undefined ? 'nothing read yet' : `values from ${time}`}</Label>;
	}

	if (scanFailure !== undefined) {
		return <Label tone="warning">{scanFailure.message}</Label>;
	}

	const age = takenAtMs === undefined ? undefined : shortDuration(Math.max(0, nowMs - takenAtMs) / 1000);
	return <Label tone="dim">{age === undefined ? 'scanning' : `scan ${age} ago`}</Label>;
}

/** The time on the store's clock. */
export function Clock({isShort}: {readonly isShort: boolean}): ReactElement | undefined {
	const {formatTime} = useSettings();
	const now = useMonitor(storeNow);
	return now === undefined ? undefined : <Label>{isShort ? formatTime(now).slice(0, 5) : formatTime(now)}</Label>;
}

/** The first line: host, age of the values, and account. */
export function Header(): ReactElement {
	const {hostname, poolLabel, requester, isReadonly} = useSettings();
	const {columns} = useMonitor(({size}) => size);
	const gpuCount = useMonitor(gpuCountOf);
	const observation = useMonitor((state) => state.observation);
	const isLost = useMonitor(({connection}) => connection.kind === 'lost');
	const isTrouble = useMonitor(({scanFailure}) => scanFailure !== undefined) || isLost;
	const {model, memory} = inventory(gpuCount, observation?.gpus ?? []);
	const cannotChange = isReadonly || isLost;
	const isRoomy = columns >= 100;
	// Each notice takes space from the GPU model on a small screen.
	const notices = [isTrouble, poolLabel !== undefined, observation?.simulated === true].filter(Boolean).length;
	return (
		<EdgeLine
			left={
				<>
					<Fixed>
						<Label tone="strong">canhazgpu{isRoomy ? ' top' : ''}</Label>
					</Fixed>
					<Box flexShrink={2}>
						<Label>{sanitize(hostname)}</Label>
					</Box>
					{gpuCount === 0 || columns < 56 + 25 * notices ? undefined : (
						<Label>
							{model}
							{memory === undefined || columns < 75 ? '' : `-${memory}`}
						</Label>
					)}
					<Badge />
					<PauseBadge />
					{observation?.simulated === true ? (
						<Fixed>
							<Label tone="warning">SIMULATED</Label>
						</Fixed>
					) : undefined}
					{poolLabel === undefined ? undefined : (
						<Fixed>
							<Label tone="warning">{sanitize(poolLabel)}</Label>
						</Fixed>
					)}
					{columns < 70 && !isTrouble ? undefined : (
						<Box flexShrink={isTrouble ? 0.1 : 3}>
							<Freshness />
						</Box>
					)}
				</>
			}
			right={
				<>
					<Label tone={cannotChange ? 'warning' : 'plain'}>{cannotChange ? 'ro' : 'rw'}</Label>
					{columns < 56 + 7 * notices ? undefined : <Label>{sanitize(requester.label)}</Label>}
					<Clock isShort={!isRoomy} />
				</>
			}
		/>
	);
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

type LoadProperties = {
	readonly word: string;
	readonly of: 'load' | 'memory';
	/** 0 to 1, or undefined if the total is unknown. */
	readonly share: number | undefined;
	readonly text: string;
	/** Cells of the bar; 0 for no bar. */
	readonly barWidth: number;
};

/** A total over all GPUs, such as `Util ━━━━──── 61%`. */
export function TotalLoad({word, of, share, text, barWidth}: LoadProperties): ReactElement {
	return (
		<Box flexShrink={0} gap={1}>
			<Label>{word}</Label>
			{barWidth === 0 || share === undefined ? undefined : <Meter of={of} share={share} width={barWidth} />}
			<Label tone={share === undefined ? 'plain' : loadTone(of, share)}>{text}</Label>
		</Box>
	);
}

/** Means and totals over the GPUs with readings. Wide screens have longer bars. */
function Loads({columns}: {readonly columns: number}): ReactElement {
	const gpus = useMonitor(({observation}) => observation?.gpus) ?? [];
	const percents = gpus.flatMap(({utilizationPercent}) => utilizationPercent ?? []);
	const mean = sum(percents) / percents.length / 100;
	// Memory in use is counted only for GPUs with a known total.
	const used = sum(
		gpus.flatMap(({memoryUsedMiB = [], memoryTotalMiB = 0}) => (memoryTotalMiB > 0 ? memoryUsedMiB : [])),
	);
	const total = sum(gpus.map(({memoryTotalMiB = 0}) => memoryTotalMiB));
	const powers = gpus.filter(({powerWatts}) => powerWatts !== undefined);
	const watts = sum(powers.map(({powerWatts = 0}) => powerWatts));
	// A limit is shown only if it is known for every GPU.
	const isLimited = powers.every(({powerLimitWatts}) => powerLimitWatts !== undefined);
	const limit = isLimited ? sum(gpus.map(({powerLimitWatts = 0}) => powerLimitWatts)) : 0;
	const kilowatts = (some: number): string => (some / 1000).toFixed(1);
	const longBar = columns >= 150 ? Math.min(30, 12 + Math.floor((columns - 150) / 4)) : 0;
	return (
		<>
			{percents.length === 0 || columns < 60 ? undefined : (
				<TotalLoad
					word="Util"
					of="load"
					share={mean}
					text={`${Math.round(mean * 100)}%`.padStart(columns < 100 ? 0 : 4)}
					barWidth={columns < 100 ? 0 : Math.max(12, longBar)}
				/>
			)}
			{total === 0 || columns < 90 ? undefined : (
				<TotalLoad
					word="Mem"
					of="memory"
					share={used / total}
					text={`${gibibytes(used).slice(0, -1)}/${gibibytes(total)}`}
					barWidth={longBar}
				/>
			)}
			{powers.length === 0 || columns < 110 ? undefined : (
				<TotalLoad
					word="Power"
					of="load"
					share={limit > 0 ? watts / limit : undefined}
					text={`${kilowatts(watts)}${limit > 0 ? `/${kilowatts(limit)}` : ''}kW`}
					barWidth={longBar}
				/>
			)}
		</>
	);
}

function countRows(rows: readonly StatusRow[], requester: State['settings']['requester']) {
	const count = (isCounted: (row: StatusRow) => boolean): number => rows.filter((row) => isCounted(row)).length;
	const mine = count((row) => isMine(row, requester));
	return {
		mine,
		others: count(({state}) => state === 'in-use') - mine,
		drained: count((row) => shownStateOf(row) === 'drained'),
		unreserved: count(({state}) => state === 'unreserved'),
		errors: count((row) => shownStateOf(row) === 'error'),
	};
}

/** The second line: free, reserved and failed GPUs, their load, and the queue. */
export function Summary(): ReactElement {
	const {requester} = useSettings();
	const {columns} = useMonitor(({size}) => size);
	const rows = useMonitor(rowsOf);
	const waiting = useMonitor(({snapshot}) => snapshot?.queue.length ?? 0);
	const isScanned = useMonitor(({observation}) => observation !== undefined);
	const {mine, others, drained, unreserved, errors} = countRows(rows, requester);
	// Small screens have short words, and omit zeros.
	const isShort = columns < 75;
	const isBrief = columns < 50;
	return (
		<EdgeLine
			left={
				<>
					<FreeCount free={freeGpus(rows)} />
					{isBrief && mine === 0 ? undefined : <Count word="Mine" count={mine} tone="mine" />}
					{isBrief && others === 0 ? undefined : <Count word="Others" count={others} tone="others" />}
					{drained === 0 ? undefined : <Count word="Drained" count={drained} tone="plain" />}
					{isBrief && unreserved === 0 ? undefined : (
						<Count word={isShort ? 'Unres' : states.unreserved.short} count={unreserved} tone="warning" />
					)}
					{isBrief && errors === 0 ? undefined : isScanned ? (
						<Count word={isShort ? 'Err' : 'Error'} count={errors} tone="error" />
					) : (
						<Count word="Unknown" count={errors} tone="plain" />
					)}
				</>
			}
			right={
				<>
					<Loads columns={columns} />
					<Count word="Queue" count={waiting} tone="strong" />
				</>
			}
		/>
	);
}
