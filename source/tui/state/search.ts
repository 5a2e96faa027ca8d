/** Searching: the selection jumps to the next row that holds the words, round and round. */
import {labelOf, ownerOf} from '../../core/rules/leases/ownership.js';
import type {QueueRecord} from '../../core/model/types.js';
import {sanitize} from '../../format/text/text.js';
import {selectedPosition, selectPosition} from './panels/queue.js';
import {focusProcess} from './processes/reduce.js';
import {holdsWords, selectedProcessIndex, visibleProcesses} from './processes/rows.js';
import {withFlash, type State, type SearchState} from './state.js';
import {rowHolds, visibleRows} from './table/rows.js';
import {membersOf} from './table/fold.js';
import {focusRow, selectedRowNumber} from './table/reduce.js';
import {wordsOfFilter} from './table/state.js';
import {presetField} from './text-field.js';

const withSearch = (state: State, search: Partial<SearchState>): State => ({
	...state,
	search: {...state.search, ...search},
});

function entryHolds(record: QueueRecord, words: readonly string[]): boolean {
	const entry = record.kind === 'entry' ? record.entry : undefined;
	const held =
		entry === undefined
			? record.id
			: [record.id, ownerOf(entry), labelOf(entry), entry.note, ...entry.requestedIds.map((id) => `gpu${id}`)].join(
					' ',
				);
	return words.every((word) => sanitize(held).toLowerCase().includes(word));
}

/** What is searched: whether each of its rows holds the words, which one is selected, and how another is. */
type Searched = {
	readonly matches: readonly boolean[];
	readonly selected: number;
	readonly select: (index: number) => State;
};

/** The table that has the focus, or the queue. */
function searchedIn(state: State, words: readonly string[]): Searched {
	const {settings, observation, panels} = state;
	if (panels.focus === 'processes') {
		return {
			matches: visibleProcesses(state).map((row) => holdsWords(row, words)),
			selected: selectedProcessIndex(state) ?? 0,
			select: (index) => focusProcess(state, index),
		};
	}

	if (panels.focus === 'queue') {
		return {
			matches: (state.snapshot?.queue ?? []).map((record) => entryHolds(record, words)),
			selected: selectedPosition(state) ?? 0,
			select: (position) => selectPosition(state, position),
		};
	}

	return {
		matches: visibleRows(state).map((row) =>
			membersOf(row).some((member) => rowHolds(member, words, settings.requester, observation !== undefined)),
		),
		selected: Math.max(0, selectedRowNumber(state)),
		select: (row) => focusRow(state, row),
	};
}

/** How many rows hold what is being typed. */
export const matchCount = (state: State): number =>
	searchedIn(state, wordsOfFilter({text: state.search.prompt?.value ?? ''})).matches.filter(Boolean).length;

const openSearch = (state: State): State => withSearch(state, {prompt: presetField(state.search.text)});

/** Selects the next match, or the one before; what is selected comes last. */
function jump(state: State, step: 1 | -1): State {
	const {text} = state.search;
	const words = wordsOfFilter({text});
	if (words.length === 0) {
		return openSearch(state);
	}

	const {matches, selected, select} = searchedIn(state, words);
	const count = matches.filter(Boolean).length;
	for (let distance = 1; distance <= matches.length; distance++) {
		const index = (selected + step * distance + matches.length * distance) % matches.length;
		if (matches[index] === true) {
			const number = matches.slice(0, index + 1).filter(Boolean).length;
			const found = `Search ${sanitize(text)}: ${number} of ${count}`;
			return withFlash(select(index), 'ok', found);
		}
	}

	return withFlash(state, 'warning', `Nothing here holds ${sanitize(text)}`);
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

/** What a user may want of the search. */
export type SearchIntent = keyof typeof searchIntents;
