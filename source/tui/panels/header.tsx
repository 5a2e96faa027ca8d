/** The first of the two lines at the top: the host, the age of the values, and the account. */
import type {ReactElement} from 'react';
import {Box} from 'ink';
import {inventory} from '../../format/readings.js';
import {shortDuration} from '../../format/text/durations.js';
import {sanitize} from '../../format/text/text.js';
import {gpuCountOf, type State} from '../state/state.js';
import {useMonitor, useSettings} from '../state/use-monitor.js';
import {FixedLabel, Label} from '../widgets/label.js';
import {Clock, EdgeLine, PauseBadge} from './shared/header-parts.js';

/** The width of a screen on which nothing in this line needs to be shortened. */
const roomyColumns = 100;

/** Shows whether the values are up to date: `[LIVE]` or `[STALE 14s]`. */
function Badge(): ReactElement | undefined {
	const connection = useMonitor((state) => state.connection);
	const scanFailure = useMonitor((state) => state.scanFailure);
	const isPaused = useMonitor(({pause}) => pause !== undefined);
	const nowMs = useMonitor((state) => state.nowMs);
	const age = (sinceMs: number): string => shortDuration(Math.max(0, nowMs - sinceMs) / 1000);
	if (connection.kind === 'connecting') {
		return <FixedLabel tone="warning">[CONNECTING]</FixedLabel>;
	}

	if (connection.kind === 'lost') {
		return <FixedLabel tone="error">[STALE {age(connection.sinceMs)}]</FixedLabel>;
	}

	if (scanFailure !== undefined) {
		return <FixedLabel tone="warning">[SCAN FAILED {age(scanFailure.sinceMs)}]</FixedLabel>;
	}

	return isPaused ? undefined : <FixedLabel tone="success">[LIVE]</FixedLabel>;
}

/** Returns the time up to which the values are valid: the start of the outage, or the start of the pause if the pause began earlier. */
function lostAt({connection, snapshot, snapshotAtMs, pause}: State): number | undefined {
	const untilMs = Math.min(connection.kind === 'lost' ? connection.sinceMs : Infinity, pause?.sinceMs ?? Infinity);
	return snapshot && snapshot.now + Math.max(0, untilMs - snapshotAtMs) / 1000;
}

/** Shows the age of the scan. While the store is unreachable, shows the time up to which the values are valid. */
function Freshness(): ReactElement {
	const {formatTime, poolLabel} = useSettings();
	const {columns} = useMonitor(({size}) => size);
	const isLost = useMonitor(({connection}) => connection.kind === 'lost');
	const scanFailure = useMonitor((state) => state.scanFailure);
	const valuesFrom = useMonitor(lostAt);
	const takenAtMs = useMonitor(({observation}) => observation?.takenAtMs);
	const nowMs = useMonitor((state) => state.nowMs);
	if (isLost) {
		const time = valuesFrom === undefined ? undefined : formatTime(valuesFrom).slice(0, 5);
		const isShort = poolLabel !== undefined && columns < roomyColumns;
		return (
			<Label tone="warning">
				{time === undefined ? 'nothing read yet' : isShort ? `from ${time}` : `values from ${time}`}
			</Label>
		);
	}

	if (scanFailure !== undefined) {
		return <Label tone="warning">{scanFailure.message}</Label>;
	}

	const age = takenAtMs === undefined ? undefined : shortDuration(Math.max(0, nowMs - takenAtMs) / 1000);
	return <Label tone="dim">{age === undefined ? 'scanning' : `scan ${age} ago`}</Label>;
}

export function Header(): ReactElement {
	const {hostname, poolLabel, requester, isReadonly} = useSettings();
	const {columns} = useMonitor(({size}) => size);
	const gpuCount = useMonitor(gpuCountOf);
	const observation = useMonitor((state) => state.observation);
	const isLost = useMonitor(({connection}) => connection.kind === 'lost');
	const isTrouble = useMonitor(({scanFailure}) => scanFailure !== undefined) || isLost;
	const {model, memory} = inventory(gpuCount, observation?.gpus ?? []);
	const cannotChange = isReadonly || isLost;
	const isRoomy = columns >= roomyColumns;
	// On a small screen, each notice leaves less space for the GPU model.
	const notices = [isTrouble, poolLabel !== undefined, observation?.simulated === true].filter(Boolean).length;
	return (
		<EdgeLine
			left={
				<>
					<FixedLabel tone="strong">canhazgpu{isRoomy ? ' top' : ''}</FixedLabel>
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
					{observation?.simulated === true ? <FixedLabel tone="warning">SIMULATED</FixedLabel> : undefined}
					{poolLabel === undefined ? undefined : <FixedLabel tone="warning">{sanitize(poolLabel)}</FixedLabel>}
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
