/** The line of totals: the number of GPUs in each state, their load, and the queue. */
import type {ReactElement} from 'react';
import {widthOf} from '../../../format/text/width.js';
import {FixedLabel} from '../../widgets/label.js';
import {
	Count,
	Counts,
	countTexts,
	EdgeLine,
	loadWidth,
	TotalLoad,
	type CountsProperties,
	type Load,
} from './header-parts.js';

type Wording = Omit<CountsProperties, 'free' | 'counts' | 'isScanned'> & {
	/** Number of blanks between parts. */
	readonly gap: number;
	/** The number of GPUs in all states. */
	readonly total?: number;
	/** The word for the queue. Defaults to `Queue`. */
	readonly queue?: string;
};

export type LoadChoice = {
	/** The smallest width of a terminal that shows these loads. */
	readonly least: number;
	readonly loads: ReadonlyArray<Load | undefined>;
};

type Properties = Pick<CountsProperties, 'free' | 'counts' | 'isScanned' | 'always'> & {
	/** Width of the terminal. */
	readonly columns: number;
	/** Whether there is room for long words in most cases. */
	readonly isRoomy: boolean;
	readonly total?: number;
	/** The loads to show, from the most to the fewest. The first choice that fits beside the counts is used. */
	readonly loads: readonly LoadChoice[];
	readonly waiting: number;
};

const totalText = (total: number): string => `of ${total}`;

/** Returns the width of parts with blanks between them, in terminal columns. */
const widthWith = (gap: number, widths: readonly number[]): number =>
	widths.reduce((sum, width) => sum + width + gap, -gap);

/** Shows the totals. If space is short, loads disappear, then the words get shorter, and then counts of zero disappear. */
export function TotalsLine({
	columns,
	isRoomy,
	free,
	counts,
	isScanned,
	always,
	total,
	loads,
	waiting,
}: Properties): ReactElement {
	const wordings: readonly Wording[] = [
		...(isRoomy ? [{wording: 'long', always, total, gap: 2} as const] : []),
		{wording: 'short', always, total, gap: 2},
		{wording: 'short', always: [], total, gap: 2},
		{wording: 'shortest', always: [], gap: 1},
		{wording: 'shortest', always: [], gap: 1, queue: 'Q'},
	];
	const choices = wordings.flatMap((wording) =>
		loads
			.filter(({least}) => columns >= least)
			.map(({loads: some}) => ({wording, shown: some.filter((load) => load !== undefined)})),
	);
	const queueWord = ({queue = 'Queue'}: Wording): string => queue;
	const fits = ({wording, shown}: (typeof choices)[number]): boolean => {
		const left = countTexts({free, counts, isScanned, ...wording}).map((text) => widthOf(text));
		const right = [...shown.map((load) => loadWidth(load)), widthOf(`${queueWord(wording)} ${waiting}`)];
		const totals = wording.total === undefined ? [] : [widthOf(totalText(wording.total))];
		// Adds a blank at each end of the line and between the two parts.
		return widthWith(wording.gap, [...left, ...totals]) + widthWith(wording.gap, right) + 3 <= columns;
	};

	const {wording, shown} = choices.find((choice) => fits(choice)) ?? choices.at(-1)!;
	return (
		<EdgeLine
			gap={wording.gap}
			left={
				<>
					<Counts free={free} counts={counts} isScanned={isScanned} wording={wording.wording} always={wording.always} />
					{wording.total === undefined ? undefined : <FixedLabel tone="dim">{totalText(wording.total)}</FixedLabel>}
				</>
			}
			right={
				<>
					{shown.map((load) => (
						<TotalLoad key={load.word} {...load} />
					))}
					<Count word={queueWord(wording)} count={waiting} tone="strong" />
				</>
			}
		/>
	);
}
