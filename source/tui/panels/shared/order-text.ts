/** How a table is sorted, filtered and tagged, for its title. */
import {sanitize} from '../../../format/text/text.js';
import {arrowOf, type SortBy} from '../../state/table/order.js';
import {isFiltered, type Filter} from '../../state/table/state.js';
import {span, type Line} from '../../widgets/styled-text.js';

type Order<Key extends string> = {
	readonly sort: SortBy<Key>;
	readonly filter: Filter;
	/** How many rows are tagged. */
	readonly tagged: number;
};

/** `sort GPU^ then MEMv`, `filter bob`, `tagged 2`. */
export function orderText<Key extends string>(
	{sort, filter, tagged}: Order<Key>,
	titleOf: (key: Key) => string,
): readonly Line[] {
	const {by, second} = sort;
	const words = [filter.user, filter.isMine ? 'mine' : undefined, filter.text.trim()].filter(Boolean).join(' ');
	return [
		[
			span('sort '),
			span(`${titleOf(by)}${arrowOf(sort)}`, 'strong'),
			...(second === undefined ? [] : [span(' then '), span(`${titleOf(second.by)}${arrowOf(second)}`, 'strong')]),
		],
		isFiltered(filter) ? [span('filter '), span(sanitize(words), 'warning')] : [],
		tagged > 0 ? [span(`tagged ${tagged}`, 'warning')] : [],
	];
}
