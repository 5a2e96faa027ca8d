/** Lists what a dialog will change, grouped by reservation, and the GPUs that will not be changed. */
import type {ReactElement} from 'react';
import {Box} from 'ink';
import type {HeldPart} from '../../../core/rules/leases/holdings.js';
import {sizeText} from '../../../core/rules/request/memory-size.js';
import {latestEndOf} from '../../../core/rules/leases/liveness.js';
import type {Lease} from '../../../core/model/types.js';
import {partName} from '../../../format/instances.js';
import {holderText} from '../../../format/owner.js';
import {shortDuration} from '../../../format/text/durations.js';
import {gpuList} from '../../../format/text/gpu-list.js';
import {counted} from '../../../format/text/numbers.js';
import {shellCommand} from '../../../format/text/shell.js';
import {storeNow} from '../../state/state.js';
import {useMonitor, useStore} from '../../state/use-monitor.js';
import {FixedLabel, Label} from '../../widgets/label.js';
import {commandOn, leftOutText, otherOwnParts, targetNames, type Targets} from './targets.js';

function endText(lease: Lease, now: number): string {
	const end = latestEndOf(lease);
	const left = end === undefined ? '' : shortDuration(Math.max(0, end - now));
	return lease.type === 'manual' && end !== undefined
		? `ends in ${left}`
		: `ends with its job${end === undefined ? '' : `, in ${left} at the latest`}`;
}

/** Returns which part of a GPU a reservation holds, such as `MIG instance 1:0` or `share of 20G`. Undefined for a whole GPU. */
function partText(part: HeldPart): string | undefined {
	const {mig, memoryMiB} = part.lease;
	return mig === undefined ? (memoryMiB === undefined ? undefined : `share of ${sizeText(memoryMiB)}`) : partName(part);
}

/** Returns a reservation as text, such as `carol, MANUAL, held 6h40m, ends in 12m`. */
const holdingText = (part: HeldPart, now: number): string => {
	const {lease} = part;
	return [
		partText(part),
		holderText(lease),
		lease.type === 'run' ? 'RUN' : 'MANUAL',
		`held ${shortDuration(now - lease.startTime)}`,
		endText(lease, now),
	]
		.filter((text) => text !== undefined)
		.join(', ');
};

/** Number of lines in the dialog that are not groups, on the smallest screen. */
const otherLines = 13;
const mostGroups = 6;

/** Shows a line for each group. If not all groups fit, also shows the number of the other GPUs. */
function Groups({targets, now}: {readonly targets: readonly HeldPart[]; readonly now: number}): ReactElement {
	const {rows} = useMonitor(({size}) => size);
	const groups = Map.groupBy(targets, (target) => holdingText(target, now))
		.entries()
		.toArray();
	const most = Math.max(1, Math.min(mostGroups, rows - otherLines));
	const shown = groups.length > most ? groups.slice(0, Math.max(1, most - 1)) : groups;
	const hidden = groups.slice(shown.length).flatMap(([, held]) => held);
	const width = Math.max(...shown.map(([, held]) => targetNames(held).length));
	return (
		<>
			{shown.map(([words, held]) => (
				<Box key={words} gap={2} flexShrink={0}>
					<FixedLabel width={width}>{targetNames(held)}</FixedLabel>
					<Label tone="dim">{words}</Label>
				</Box>
			))}
			{hidden.length === 0 ? undefined : (
				<Label tone="dim">
					and{' '}
					{gpuList(
						hidden.map(({index}) => index),
						0,
					)}{' '}
					more
				</Label>
			)}
		</>
	);
}

export function TargetList({targets, leftOut}: Targets): ReactElement {
	const now = useMonitor(storeNow) ?? targets[0]!.lease.startTime;
	// The title already names a single GPU.
	if (targets.length === 1 && leftOut.length === 0) {
		return <Label tone="dim">{holdingText(targets[0]!, now)}</Label>;
	}

	return (
		<>
			<Groups targets={targets} now={now} />
			{leftOut.length === 0 ? undefined : (
				<Label tone="warning" wrap="wrap">
					Left out: {leftOutText(leftOut)}
				</Label>
			)}
		</>
	);
}

/** Number of other reservations that are shown with their commands, if the screen is high enough. */
const mostOthers = 2;
const rowsForOthers = 20;

/** Names the user's other reservations on the same GPU, with the commands for them: a key acts on only one of several. */
export function OtherReservations({
	action,
	...targets
}: Targets & {readonly action: 'release' | 'extend'}): ReactElement | undefined {
	const {getState} = useStore();
	const {rows} = useMonitor(({size}) => size);
	const others = otherOwnParts(getState(), targets);
	const shown = others.slice(0, rows < rowsForOthers ? 0 : mostOthers);
	const hidden = others.length - shown.length;
	return others.length === 0 ? undefined : (
		<>
			{shown.map((part) => (
				<Label key={part.lease.leaseId} tone="dim" wrap="wrap">
					Also yours here: {partText(part)}. For it:{' '}
					{shellCommand(commandOn(action, {targets: [part], namedLeaseId: part.lease.leaseId}))}
				</Label>
			))}
			{hidden === 0 ? undefined : (
				<Label tone="dim">
					{shown.length === 0 ? 'Also yours here: ' : 'and '}
					{counted(hidden, 'more reservation')} (canhazgpu status --json shows the ids)
				</Label>
			)}
		</>
	);
}
