/** The two lines above the table of hosts: how many hosts answer, and the totals of all hosts. */
import type {ReactElement} from 'react';
import {counted} from '../../../format/text/numbers.js';
import {sanitize} from '../../../format/text/text.js';
import {hostNamesOf, hostTotals} from '../../state/hosts/totals.js';
import {useMonitor, useSettings} from '../../state/use-monitor.js';
import {useDrawing} from '../../themes/drawing-context.js';
import {FixedLabel, Label} from '../../widgets/label.js';
import {Clock, Count, Counts, EdgeLine, PauseBadge, TotalLoad, TotalMemory} from '../shared/header-parts.js';

function Hosts({columns}: {readonly columns: number}): ReactElement {
	const {requester, isReadonly} = useSettings();
	const hosts = useMonitor((state) => hostNamesOf(state).length);
	const {answering, asking, failing} = useMonitor(hostTotals);
	const isRoomy = columns >= 90;
	return (
		<EdgeLine
			left={
				<>
					<FixedLabel tone="strong">canhazgpu{columns >= 100 ? ' top' : ''}</FixedLabel>
					<Label>{counted(hosts, 'host')}</Label>
					<Label tone={answering > 0 ? 'success' : 'dim'}>
						{answering} {isRoomy ? 'answering' : 'live'}
					</Label>
					{asking > 0 ? <Label tone="warning">{asking} asked</Label> : undefined}
					{failing > 0 ? (
						<Label tone="error">
							{failing} {isRoomy ? 'not answering' : 'down'}
						</Label>
					) : undefined}
					<PauseBadge />
				</>
			}
			right={
				<>
					<Label tone={isReadonly ? 'warning' : 'plain'}>{isReadonly ? 'ro' : 'rw'}</Label>
					{columns < 70 ? undefined : <Label>{sanitize(requester.label)}</Label>}
					<Clock isShort={columns < 80} />
				</>
			}
		/>
	);
}

function Totals({columns}: {readonly columns: number}): ReactElement {
	const {
		free,
		gpuCount,
		waiting,
		utilization,
		memoryUsedMiB: used,
		memoryTotalMiB: total,
		...counts
	} = useMonitor(hostTotals);
	return (
		<EdgeLine
			left={
				<>
					<Counts free={free} counts={counts} isShort={columns < 80} always={['mine', 'others']} />
					<Label tone="dim">of {gpuCount}</Label>
				</>
			}
			right={
				<>
					{utilization === undefined || columns < 75 ? undefined : (
						<TotalLoad
							word="Util"
							of="load"
							share={utilization}
							text={`${Math.round(utilization * 100)}%`}
							barWidth={columns < 110 ? 0 : 12}
						/>
					)}
					{total === 0 || columns < 90 ? undefined : <TotalMemory usedMiB={used} totalMiB={total} barWidth={0} />}
					<Count word="Queue" count={waiting} tone="strong" />
				</>
			}
		/>
	);
}

export function HostsHeader(): ReactElement {
	const {frame} = useDrawing();
	const {columns: screenColumns} = useMonitor(({size}) => size);
	// For a screen reader, no word is left out.
	const columns = frame === 'plain' ? Infinity : screenColumns;
	return (
		<>
			<Hosts columns={columns} />
			<Totals columns={columns} />
		</>
	);
}
