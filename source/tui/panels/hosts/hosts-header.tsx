/** The two lines above the table of hosts: how many hosts answer, and the totals of all hosts. */
import type {ReactElement} from 'react';
import {counted} from '../../../format/text/numbers.js';
import {sanitize} from '../../../format/text/text.js';
import {hostNamesOf, hostTotals} from '../../state/hosts/totals.js';
import {useMonitor, useSettings} from '../../state/use-monitor.js';
import {useDrawing} from '../../themes/drawing-context.js';
import {FixedLabel, Label} from '../../widgets/label.js';
import {Clock, EdgeLine, memoryLoad, PauseBadge, utilizationLoad, type Load} from '../shared/header-parts.js';
import {TotalsLine} from '../shared/totals-line.js';

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
	const util = (barWidth: number): Load | undefined => utilizationLoad(utilization, barWidth);
	const mem = memoryLoad(used, total, 0);
	const loads = [
		{least: 110, loads: [util(12), mem]},
		{least: 90, loads: [util(0), mem]},
		{least: 75, loads: [util(0)]},
		{least: 0, loads: []},
	];
	return (
		<TotalsLine
			columns={columns}
			isRoomy={columns >= 80}
			free={free}
			counts={counts}
			always={['mine', 'others']}
			total={gpuCount}
			loads={loads}
			waiting={waiting}
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
