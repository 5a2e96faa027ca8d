/** Shows who holds the selected GPU, when the reservation ends, and its note. */
import type {ReactElement} from 'react';
import {Box} from 'ink';
import {owns} from '../../../core/rules/leases/ownership.js';
import type {StatusRow} from '../../../core/rules/pool/status.js';
import {isOver, overText, shareOwner, sharedAmount, sharePart, sharesText} from '../../../format/shares.js';
import {leftText, unreservedText} from '../../../format/status-labels.js';
import {shortDuration} from '../../../format/text/durations.js';
import {sanitize} from '../../../format/text/text.js';
import {widthOf} from '../../../format/text/width.js';
import {clockText} from '../../state/clock.js';
import {storeNow, type State} from '../../state/state.js';
import {isMine} from '../../state/gpus/row-state.js';
import {useMonitor, useSettings} from '../../state/use-monitor.js';
import {useDrawing} from '../../themes/drawing-context.js';
import {FixedLabel, Label} from '../../widgets/label.js';
import {Pieces} from '../../widgets/pieces.js';
import {noteText, otherFaultOf, OwnerName, ownerText, StateWord, useIsScanned} from '../shared/row-words.js';

type Held = Pick<StatusRow, 'lease' | 'remainingSeconds' | 'heartbeatAgeSeconds'>;

/** Returns a text about the end of a reservation, such as `ends when 4711 exits  heartbeat 3s`. */
function endText({lease, remainingSeconds, heartbeatAgeSeconds}: Held, state: State): string {
	const end =
		remainingSeconds === undefined
			? undefined
			: `ends in ${shortDuration(remainingSeconds)} at ${clockText(storeNow(state)! + remainingSeconds, state)}`;
	if (lease?.type === 'manual') {
		return end ?? 'never ends';
	}

	const job = lease?.job?.pid ?? lease?.holder?.pid ?? 'its job';
	// Omits the age of the heartbeat for a screen reader, which would read it aloud every second.
	const heartbeat =
		heartbeatAgeSeconds === undefined || state.settings.isLinear
			? ''
			: `  heartbeat ${shortDuration(heartbeatAgeSeconds)}`;
	return `${end === undefined ? `ends when ${job} exits` : `${end}, or when ${job} exits`}${heartbeat}`;
}

function End(held: Held): ReactElement {
	const text = useMonitor((state) => endText(held, state));
	if (held.lease?.partialQueueId !== undefined) {
		return <Label>held for its position in the queue until the rest is free</Label>;
	}

	return held.lease?.isSuspended === true ? (
		<Label tone="warning">suspended: its job is stopped, but keeps its GPUs</Label>
	) : (
		<Label>{text}</Label>
	);
}

export function Note({lease}: Held): ReactElement | undefined {
	const note = noteText({lease});
	return note === '' ? undefined : (
		<Label>
			note <Label tone="strong">{note}</Label>
		</Label>
	);
}

const kindOf = ({lease}: Held): string => (lease?.type === 'run' ? 'RUN' : 'MANUAL');

/** Shows how much memory is shared. Also lists all shares, if they are not shown on lines of their own. */
function SharedAmount({row}: {readonly row: StatusRow}): ReactElement {
	const {frame} = useDrawing();
	const isOverused = row.shares?.some((share) => isOver(share)) === true;
	return frame === 'boxed' ? (
		<Label>{sharedAmount(row)}</Label>
	) : (
		<Label tone={isOverused ? 'warning' : 'plain'}>{sharesText(row, {isOverFirst: true}) ?? ''}</Label>
	);
}

/** Width to which the name of an owner can be shortened, in terminal columns. */
const leastOwner = 12;

function HeldGpu({row}: {readonly row: StatusRow}): ReactElement {
	const {requester} = useSettings();
	const {frame} = useDrawing();
	const isScanned = useIsScanned();
	const fault = isScanned ? otherFaultOf(row) : undefined;
	const owner = ownerText(row);
	return (
		<>
			<Box minWidth={Math.min(widthOf(owner), leastOwner)}>
				<Label tone={isMine(row, requester) ? 'mine' : 'others'}>{owner}</Label>
			</Box>
			{row.lease === undefined ? (
				<SharedAmount row={row} />
			) : (
				<>
					<FixedLabel>{kindOf(row)}</FixedLabel>
					{/* On a larger screen, the table already shows how long the GPU has been held. */}
					{frame === 'boxed' ? undefined : <FixedLabel>held {shortDuration(row.heldSeconds ?? 0)}</FixedLabel>}
				</>
			)}
			{fault === undefined ? undefined : <Label tone="error">{sanitize(fault)}</Label>}
			{row.lease === undefined ? undefined : <End {...row} />}
		</>
	);
}

function FreeSince({row: {freeSeconds, reading}}: {readonly row: StatusRow}): ReactElement | undefined {
	if (freeSeconds !== undefined) {
		return <Label>for {shortDuration(freeSeconds)}</Label>;
	}

	// A cluster does not report when a GPU was released, so it is not known whether the GPU was ever used.
	return reading?.place === undefined ? <Label>never used</Label> : undefined;
}

export function HoldingWords({row}: {readonly row: StatusRow}): ReactElement {
	const isScanned = useIsScanned();
	switch (row.state) {
		case 'available': {
			return (
				<>
					<StateWord row={row} />
					<FreeSince row={row} />
				</>
			);
		}

		case 'unreserved': {
			return row.use.kind === 'used' && row.use.isDirty === true ? (
				<>
					<StateWord row={row} />
					<Label>{unreservedText(row)}</Label>
				</>
			) : (
				<>
					<OwnerName row={row} />
					<Label>{leftText(row) ?? 'uses it without a reservation'}</Label>
				</>
			);
		}

		case 'error': {
			const fault = isScanned ? otherFaultOf(row) : row.problem;
			return (
				<>
					<StateWord row={row} />
					{fault === undefined ? undefined : <Label tone={isScanned ? 'error' : 'dim'}>{sanitize(fault)}</Label>}
				</>
			);
		}

		case 'in-use': {
			return <HeldGpu row={row} />;
		}
	}
}

export const Holding = ({row}: {readonly row: StatusRow}): ReactElement => (
	<Pieces>
		<HoldingWords row={row} />
	</Pieces>
);

type ShareProperties = {readonly share: NonNullable<StatusRow['shares']>[number]; readonly index: number};

export function Share({share, index}: ShareProperties): ReactElement {
	const {requester} = useSettings();
	return (
		<Pieces>
			<Label tone={owns(requester, share.lease) ? 'mine' : 'others'}>
				{shareOwner(share)}{' '}
				<Label tone={isOver(share) ? 'warning' : 'strong'}>{sharePart(share, index) + overText(share)}</Label>
			</Label>
			<FixedLabel>{kindOf(share)}</FixedLabel>
			<End {...share} />
			<Note {...share} />
		</Pieces>
	);
}
