/** The search. It selects the next row that contains the words. After the last row, it continues at the first row. */
import {sanitize} from '../../format/text/text.js';
import {withFlash, type State, type SearchState} from './state.js';
import {focusedTable} from './table/tables.js';
import {presetField} from './text-field.js';

const withSearch = (state: State, search: Partial<SearchState>): State => ({
	...state,
	search: {...state.search, ...search},
});

export const matchCount = (state: State): number =>
	focusedTable(state)
		.matches(state, state.search.prompt?.value ?? '')
		.filter(Boolean).length;

const openSearch = (state: State): State => withSearch(state, {prompt: presetField(state.search.text)});

/** Selects the next or previous row that matches. If only the selected row matches, keeps it selected. */
function jump(state: State, step: 1 | -1): State {
	const {text} = state.search;
	if (text.trim() === '') {
		return openSearch(state);
	}

	const table = focusedTable(state);
	const found = table.matches(state, text).flatMap((isMatch, index) => (isMatch ? [index] : []));
	const selected = table.selectedIndex(state) ?? 0;
	const index =
		step === 1
			? (found.find((each) => each > selected) ?? found[0])
			: (found.findLast((each) => each < selected) ?? found.at(-1));
	if (index === undefined) {
		return withFlash(state, 'warning', `Nothing here contains ${sanitize(text)}`);
	}

	const place = `Search ${sanitize(text)}: ${found.indexOf(index) + 1} of ${found.length}`;
	return withFlash(table.change(state, {kind: 'select', index}), 'ok', place);
}

function keepSearch(state: State): State {
	const {prompt} = state.search;
	const kept: State = {...state, search: {text: prompt?.value.trim() ?? ''}};
	return kept.search.text === '' ? kept : jump(kept, 1);
}

export const searchIntents = {
	'open-search': openSearch,
	'keep-search': keepSearch,
	'drop-search': (state) => ({...state, search: {text: state.search.text}}),
	'search-next': (state) => jump(state, 1),
	'search-previous': (state) => jump(state, -1),
} as const satisfies Readonly<Record<string, (state: State) => State>>;

export type SearchIntent = keyof typeof searchIntents;
