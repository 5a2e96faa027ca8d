/** Describes a GPU in words for a screen reader. Omits everything that changes every second, because every change is read aloud. */
import type {ReactElement} from 'react';
import type {StatusRow} from '../../core/rules/pool/status.js';
import {gibibytes} from '../../format/readings.js';
import {roughDuration} from '../../format/text/durations.js';
import {migText} from '../../format/status-labels.js';
import {sanitize} from '../../format/text/text.js';
import {Usage} from '../panels/gpus/process-cell.js';
import {hotCelsius} from '../panels/shared/readings.js';
import {drainText, endText, hasIdleWords, otherFaultOf, ownerText, placeText} from '../panels/shared/row-words.js';
import {stateName} from '../state/gpus/row-state.js';
import type {TableRow} from '../state/gpus/fold.js';
import {selectedGpu} from '../state/gpus/rows.js';
import {useMonitor, useSettings} from '../state/use-monitor.js';
import {Label} from '../widgets/label.js';

/** Rounds a percentage to tens, so that the text does not change after each scan. */
const about = (percent: number): string => `${Math.round(percent / 10) * 10} percent`;

export const sentence = (parts: ReadonlyArray<string | undefined>): string =>
	parts.filter((part) => part !== undefined && part !== '').join(', ');

function readingWords({reading}: StatusRow): readonly string[] {
	const {utilizationPercent, memoryUsedMiB, memoryTotalMiB, temperatureCelsius} = reading ?? {};
	const total = memoryTotalMiB === undefined ? '' : ` of ${gibibytes(memoryTotalMiB)}`;
	return [
		utilizationPercent === undefined ? 'utilization unknown' : `utilization about ${about(utilizationPercent)}`,
		memoryUsedMiB === undefined
			? 'memory unknown'
			: `memory ${gibibytes(Math.round(memoryUsedMiB / 1024) * 1024)}${total}`,
		...(temperatureCelsius !== undefined && temperatureCelsius >= hotCelsius ? ['hot'] : []),
	];
}

function endWords({lease, remainingSeconds}: StatusRow): string | undefined {
	if (lease === undefined) {
		return undefined;
	}

	if (lease.isSuspended === true) {
		return 'suspended';
	}

	return remainingSeconds === undefined
		? `ends ${endText({lease, remainingSeconds})}`
		: `ends in ${roughDuration(Math.max(60, remainingSeconds))}`;
}

export function GpuSentence({row}: {readonly row: TableRow}): ReactElement {
	const {requester} = useSettings();
	const isScanned = useMonitor(({observation}) => observation !== undefined);
	const isSelected = useMonitor((state) => selectedGpu(state) === row.index);
	const fault = otherFaultOf(row);
	const words = sentence([
		`${isSelected ? 'Selected: ' : ''}GPU ${row.index}`,
		stateName(row, requester, isScanned),
		ownerText(row).replace(/^-$/v, ''),
		endWords(row),
		...(isScanned ? readingWords(row) : []),
		row.health[0] === undefined ? row.drain && drainText(row.drain) : sanitize(row.health[0].words),
		fault === undefined ? undefined : sanitize(fault),
	]);
	const hasUsage =
		row.processes.length > 0 ||
		hasIdleWords(row) ||
		row.shares !== undefined ||
		(placeText(row) ?? migText(row.reading)) !== undefined;
	return (
		<Label wrap="wrap">
			{words}
			{hasUsage ? (
				<>
					{', '}
					<Usage row={row} />
				</>
			) : undefined}
		</Label>
	);
}
