/** What can stand in the place of the last word of a line that is typed into the monitor. */
import {completeWords, type CompletionOptions} from './words.js';

/** What can stand in the place of the last word of a line: its beginning as an offset, and the words. */
type Completion = {readonly start: number; readonly candidates: readonly string[]};

/** @param line - Up to the caret. */
export async function completeLine(line: string, options: CompletionOptions): Promise<Completion> {
	const start = line.search(/(?<!\S)\S*$/v);
	const word = line.slice(start);
	const before = line.slice(0, start).split(/\s+/v).filter(Boolean);
	const completed = await completeWords(before, word, options);
	return {start, candidates: completed.kind === 'words' ? completed.candidates.map((candidate) => candidate.word) : []};
}
