/** More facts about the selected GPU: users who wait for it, faults, MIG instances and the hardware. */
import type {ReactElement} from 'react';
import {Box} from 'ink';
import type {GpuReading, MigInstance} from '../../../core/model/types.js';
import {instanceText} from '../../../core/rules/mig/instances.js';
import type {StatusRow} from '../../../core/rules/pool/status.js';
import type {QueueRow} from '../../../core/rules/queue/queue-rows.js';
import {holderText} from '../../../format/owner.js';
import {gibibytes, shortBusId} from '../../../format/readings.js';
import {shortDuration} from '../../../format/text/durations.js';
import {sanitize} from '../../../format/text/text.js';
import {widthOf} from '../../../format/text/width.js';
import {storeNow} from '../../state/state.js';
import {useMonitor} from '../../state/use-monitor.js';
import {Label} from '../../widgets/label.js';
import {drainText} from '../shared/row-words.js';

type Properties = {readonly row: StatusRow};

const waitersTitle = 'in the queue for it: ';

/** Returns the queue entries that wait for a GPU, such as `#1 erin`. */
export const waitersOf = (rows: readonly QueueRow[], index: number): readonly string[] =>
	rows
		.filter(({blockers}) => blockers.some(({kind, gpus}) => kind === 'lease' && gpus.includes(index)))
		.flatMap(({position, entry}) => (entry ? [`#${position} ${holderText(entry)}`] : []));

export function Waiters({names, width}: {readonly names: readonly string[]; readonly width: number}): ReactElement {
	const some = (count: number): string =>
		names.slice(0, count).join(', ') + (count < names.length ? ` and ${names.length - count} more` : '');
	let count = names.length;
	while (count > 1 && widthOf(waitersTitle + some(count)) > width) {
		count--;
	}

	return (
		<Label>
			<Label tone="dim">{waitersTitle}</Label>
			{some(count)}
		</Label>
	);
}

export function Drain({row: {drain}}: Properties): ReactElement {
	const now = useMonitor(storeNow);
	const since = drain?.since;
	return (
		<Label>
			<Label tone="warning">{drain && drainText(drain)}</Label>
			{since === undefined ? '' : `, ${shortDuration(Math.max(0, (now ?? since) - since))} ago`}
		</Label>
	);
}

export function Instance({gpu, instance}: {readonly gpu: number; readonly instance: MigInstance}): ReactElement {
	const {number, profile, memoryUsedMiB, memoryTotalMiB, uuid} = instance;
	const used = memoryUsedMiB === undefined ? 'N/A' : gibibytes(memoryUsedMiB);
	const memory = memoryTotalMiB === undefined ? used : `${used.replace('G', '')}/${gibibytes(memoryTotalMiB)}`;
	return (
		<Box gap={2} flexShrink={0}>
			<Label>MIG {instanceText({gpu, number})}</Label>
			{profile === undefined ? undefined : <Label>{sanitize(profile)}</Label>}
			<Label>{memory}</Label>
			{uuid === undefined ? undefined : <Label tone="dim">{sanitize(uuid)}</Label>}
		</Box>
	);
}

const amount = (word: string, value: number | undefined, unit: string): string | undefined =>
	value === undefined ? undefined : `${word} ${Math.round(value)}${unit}`;

/** Returns facts that rarely change. Returns undefined if no such fact is known. */
export function factsText(reading: GpuReading | undefined, driverVersion: string | undefined): string | undefined {
	if (reading === undefined) {
		return undefined;
	}

	const {eccUncorrectedErrors, smClockMHz, memoryClockMHz, fanPercent, uuid, pciBusId, computeMode} = reading;
	const facts = [
		amount('SM', smClockMHz, 'MHz'),
		amount('memory', memoryClockMHz, 'MHz'),
		amount('fan', fanPercent, '%'),
		eccUncorrectedErrors === undefined || eccUncorrectedErrors === 0 ? undefined : `ECC errors ${eccUncorrectedErrors}`,
		computeMode === 'Default' ? undefined : computeMode,
		pciBusId === undefined ? undefined : shortBusId(pciBusId),
		driverVersion === undefined ? undefined : `driver ${driverVersion}`,
		// The UUID comes last, because it is the longest fact. If it is cut off, `Y` still copies all of it.
		uuid,
	].filter((fact) => fact !== undefined && fact !== '');
	return facts.length === 0 ? undefined : facts.map((fact) => sanitize(fact!)).join('  ');
}
