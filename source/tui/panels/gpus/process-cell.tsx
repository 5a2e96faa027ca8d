import type {ReactElement} from 'react';
import type {StatusRow} from '../../../core/rules/pool/status.js';
import {reclaimTimeOf} from '../../../format/idle-text.js';
import {byMemory, processText} from '../../../format/readings.js';
import {isOver, sharesText} from '../../../format/shares.js';
import {leftText, migText} from '../../../format/status-labels.js';
import {sanitize} from '../../../format/text/text.js';
import type {TableRow} from '../../state/gpus/fold.js';
import {Label} from '../../widgets/label.js';
import {
	areProcessesHidden,
	faultOf,
	placeText,
	ServiceWords,
	ShortIdleWords,
	useIsScanned,
} from '../shared/row-words.js';
import {Value} from '../shared/readings.js';

function nodeText(members: readonly StatusRow[]): string | undefined {
	const nodes = [...new Set(members.map(({reading}) => reading?.place?.node).filter((node) => node !== undefined))];
	return nodes.length === 0 ? undefined : sanitize(`${members.length} GPUs of ${nodes.join(', ')}`);
}

/** Returns the largest process of a GPU and the number of other processes. */
function largestText({processes, reading}: StatusRow): string | undefined {
	const [first, ...others] = byMemory(processes);
	const instances = migText(reading);
	if (first === undefined) {
		return instances;
	}

	const words = processText(first) + (others.length > 0 ? ` +${others.length}` : '');
	return instances === undefined ? words : `MIG: ${words}`;
}

/**
Shows the first of these that exists: users without a right to the GPU, processes left by an ended job, users who share the GPU, when the GPU goes
back or since when it is parked, the largest process, or until when the unused GPU is kept.
*/
export function Usage({row, width = Infinity}: {readonly row: TableRow; readonly width?: number}): ReactElement {
	const [squatter] = byMemory(row.squatters);
	if (squatter !== undefined) {
		return (
			<Label tone="warning">
				! {sanitize(squatter.user ?? '')}: {processText(squatter)}
			</Label>
		);
	}

	const left = leftText(row);
	if (left !== undefined) {
		return (
			<Label tone="warning">
				{left}: {largestText(row)}
			</Label>
		);
	}

	const shared = sharesText(row, {isOverFirst: true});
	if (shared !== undefined) {
		return <Label tone={row.shares!.some((share) => isOver(share)) ? 'warning' : 'plain'}>{shared}</Label>;
	}

	const words = (row.members === undefined ? placeText(row) : nodeText(row.members)) ?? largestText(row);
	const {warning, beyondLimit, parked, keepUntil} = row;
	if ((warning ?? beyondLimit ?? parked) !== undefined || (words === undefined && keepUntil !== undefined)) {
		const deadline = reclaimTimeOf(row);
		const shown = {
			warning: deadline === undefined ? undefined : {deadline},
			isBeyondLimit: beyondLimit !== undefined,
			parked,
			keepUntil,
		};
		return <ShortIdleWords row={shown} width={width} words={words} />;
	}

	return words === undefined && areProcessesHidden(row) ? <Label tone="dim">hidden</Label> : <Value>{words}</Value>;
}

/** Shows the fault of a GPU. If there is none, shows the GPU's processes. */
export function ProcessCell({row, width}: {readonly row: TableRow; readonly width: number}): ReactElement {
	const isScanned = useIsScanned();
	const fault = faultOf(row);
	if (fault !== undefined && isScanned) {
		return <Label tone="error">{sanitize(fault)}</Label>;
	}

	const hasServiceWords = row.health.length > 0 || row.drain !== undefined;
	return hasServiceWords && (row.processes.length === 0 || row.health.length > 0) ? (
		<ServiceWords row={row} />
	) : (
		<Usage row={row} width={width} />
	);
}
