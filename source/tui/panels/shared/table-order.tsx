import type {ReactElement} from 'react';
import {sanitize} from '../../../format/text/text.js';
import {arrowOf, type SortBy} from '../../state/table/order.js';
import {isFiltered, type Filter} from '../../state/table/state.js';
import {Label} from '../../widgets/label.js';

type Properties<Name extends string> = {
	readonly sort: SortBy<Name>;
	readonly filter: Filter;
	readonly tagged: number;
	readonly titleOf: (name: Name) => string;
};

/** Shows the order, the filter and the tags of a table in its title, such as `sort GPU^ then MEMv`, `filter bob` and `tagged 2`. */
export function TableOrder<Name extends string>({sort, filter, tagged, titleOf}: Properties<Name>): ReactElement {
	const {by, second} = sort;
	const words = [filter.user, filter.isMine ? 'mine' : undefined, filter.text.trim()].filter(Boolean).join(' ');
	return (
		<>
			<Label>
				sort{' '}
				<Label tone="strong">
					{titleOf(by)}
					{arrowOf(sort)}
				</Label>
				{second === undefined ? undefined : (
					<>
						{' then '}
						<Label tone="strong">
							{titleOf(second.by)}
							{arrowOf(second)}
						</Label>
					</>
				)}
			</Label>
			{isFiltered(filter) ? (
				<Label>
					filter <Label tone="warning">{sanitize(words)}</Label>
				</Label>
			) : undefined}
			{tagged > 0 ? <Label tone="warning">tagged {tagged}</Label> : undefined}
		</>
	);
}
