/** What is searched for in the tables and in the queue: the selection jumps to it, and no row is hidden. */
import type {TextField} from '../text-field.js';

export type SearchState = {
	/** Words that a row must all hold, in any case. Empty before the first search. */
	readonly text: string;
	/** It is being typed. */
	readonly prompt?: TextField;
};

export const noSearch: SearchState = {text: ''};
