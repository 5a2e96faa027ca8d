/** How a table is sorted, filtered and tagged, for its title. */
import {sanitize} from '../../../format/text/text.js';
import type {SortBy} from '../../state/table/order.js';
import {isFiltered, type Filter} from '../../state/table/state.js';
import {span, type Line} from '../../widgets/styled-text.js';

type Order<Key extends string> = {
	readonly sort: SortBy<Key>;
	readonly filter: Filter;
	/** How many rows are tagged. */
	readonly tagged: number;
};

const arrow = (isInverted: boolean): string => (isInverted ? 'v' : '^');

/** `sort GPU^ then MEM^`, `filter bob`, `tagged 2`. */
export function orderWords<Key extends string>(
	{sort, filter, tagged}: Order<Key>,
	titleOf: (key: Key) => string,
): readonly Line[] {
	const {by, isInverted, second} = sort;
	const words = [filter.user, filter.isMine ? 'mine' : undefined, filter.text.trim()].filter(Boolean).join(' ');
	return [
		[
			span('sort '),
			span(`${titleOf(by)}${arrow(isInverted)}`, 'strong'),
			...(second === undefined
				? []
				: [span(' then '), span(`${titleOf(second.by)}${arrow(second.isInverted)}`, 'strong')]),
		],
		isFiltered(filter) ? [span('filter '), span(sanitize(words), 'warning')] : [],
		tagged > 0 ? [span(`tagged ${tagged}`, 'warning')] : [],
	];
}
