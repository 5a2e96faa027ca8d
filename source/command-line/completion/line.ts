/** What can stand in the place of the last word of a line that is typed into the monitor. */
import type {Completion} from '../../tui/ports.js';
import {completeWords, type CompletionOptions} from './words.js';

/** @param line - Up to the caret. */
export async function completeLine(line: string, options: CompletionOptions): Promise<Completion> {
	const start = line.search(/(?<!\S)\S*$/v);
	const word = line.slice(start);
	const before = line.slice(0, start).split(/\s+/v).filter(Boolean);
	const completed = await completeWords(before, word, options);
	return {start, candidates: completed.kind === 'words' ? completed.candidates.map((candidate) => candidate.word) : []};
}
