/** The larger cells of the GPU table. The short cells are in `columns.tsx`. */
import type {ReactElement} from 'react';
import {Box} from 'ink';
import {seriesOf} from '../../../core/live/utilization-history.js';
import type {StatusRow} from '../../../core/rules/pool/status.js';
import {truncate, widthOf} from '../../../format/text/width.js';
import {gpuText, meanOf, membersOf, tagOf, type TableRow} from '../../state/gpus/fold.js';
import type {CellProperties} from '../../table/data-table.js';
import {useDrawing} from '../../themes/drawing-context.js';
import {Label} from '../../widgets/label.js';
import {Sparkline} from '../../widgets/sparkline.js';
import type {Values} from '../../widgets/graph.js';
import {useGraphValues} from '../shared/past-values.js';
import {OwnerName} from '../shared/row-words.js';

type Properties = CellProperties<TableRow>;

/** Shows the GPUs of a row. If the list is too long, shortens it but keeps the number of GPUs at its end. */
export function GpuNumbers({row, width}: Properties): ReactElement {
	const words = gpuText(row);
	const count = words.indexOf(' ');
	const shown =
		widthOf(words) <= width || count === -1
			? words
			: truncate(words.slice(0, count), width - (words.length - count)) + words.slice(count);
	return <Label tone="strong">{shown}</Label>;
}

/** Whether two rows belong to the same reservation. A reservation of the Go program has no lease id, so its rows never match. */
const isSameReservation = (row: StatusRow, other: StatusRow | undefined): boolean =>
	row.lease?.leaseId !== undefined && row.lease.leaseId === other?.lease?.leaseId;

export const isRepeated = ({row, above}: Properties): boolean => isSameReservation(row, above);

/** Shows the owner. A line at the left connects the GPUs of one reservation. */
export function Owner({row, above, below}: Properties): ReactElement {
	const {isAscii} = useDrawing();
	const [isNotFirst, isNotLast] = [isSameReservation(row, above), isSameReservation(row, below)];
	const [top, middle, bottom] = isAscii ? '+|+' : '╭│╰';
	const line = isNotFirst ? (isNotLast ? middle : bottom) : isNotLast ? top : undefined;
	return (
		<Box>
			<Box width={1} flexShrink={0}>
				{line === undefined ? undefined : <Label tone="frame">{line}</Label>}
			</Box>
			<OwnerName row={row} />
		</Box>
	);
}

const meanValues = (all: readonly Values[]): Values =>
	all[0]!.map((_, index) => meanOf(all.map((values) => values[index])));

/** Removes the unknown values at the start, so that the graph of a new monitor begins below the title of its column. */
const fromFirstKnown = (values: Values): Values => {
	const first = values.findIndex((value) => value !== undefined);
	return first === -1 ? [] : values.slice(first);
};

/** Shows a graph of the utilization in the last five minutes. */
export function History({row, width}: Properties): ReactElement {
	const values = useGraphValues(
		({history, nowMs}) => {
			const ofMembers = membersOf(row).map(({index, reading}) =>
				seriesOf(history, tagOf(index, reading), 'utilization', {columns: width, nowMs}),
			);
			return fromFirstKnown(meanValues(ofMembers));
		},
		[row, width],
	);
	return <Sparkline values={values} />;
}
