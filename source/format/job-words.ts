/** Describes jobs and the end of their output in sentences, for readers without a terminal. */
import {isOver} from '../core/rules/jobs/start.js';
import type {JobRow} from '../core/rules/jobs/rows.js';
import {noteWords} from './text/note.js';
import {counted} from './text/numbers.js';
import {sanitize, sanitizeTyped, shorten} from './text/text.js';
import {detailsText} from './jobs.js';

/** Returns a sentence about a job: `Job 7 is RUNNING: GPU 0; python train.py (via mcp codex).` */
function jobSentence(row: JobRow, now: number): string {
	const details = detailsText(row, now);
	const words = [
		...(details === '-' ? [] : [details]),
		noteWords({note: shorten(sanitize(row.command), 200), via: row.via}),
	];
	return `Job ${sanitize(row.id)} is ${row.state.toUpperCase()}: ${words.join('; ')}.`;
}

export const jobWords = (rows: readonly JobRow[], now: number): string =>
	rows.length === 0
		? 'You have no waiting or running jobs, and none that ended in the last day.'
		: rows.map((row) => jobSentence(row, now)).join(' ');

/** Returns a line as a terminal finally shows it. A progress bar overwrites its line after each carriage return. */
const finalLine = (line: string): string =>
	line
		.split('\r')
		.findLast((part) => part !== '')
		?.split('\t')
		.map((part) => sanitizeTyped(part, Infinity))
		.join('\t') ?? '';

type Output = {
	readonly row: JobRow;
	readonly file: string;
	readonly bytes: Uint8Array;
	/** Whether the output has more text before these bytes. */
	readonly isCut: boolean;
};

/** Returns the last lines of an output, sanitized, after a sentence about the job. */
export function outputWords({row, file, bytes, isCut}: Output, most: number): string {
	const about = `Job ${sanitize(row.id)} is ${row.state.toUpperCase()}`;
	const all = new TextDecoder().decode(bytes).replace(/\n$/v, '').split('\n');
	if (bytes.length === 0) {
		return `${about}. It has not written any output${isOver(row) ? '' : ' so far'}.`;
	}

	// The first line is incomplete, so it is dropped unless it is the only one.
	const whole = isCut && all.length > 1 ? all.slice(1) : all;
	const shown = whole.slice(-most);
	const isAll = !isCut && shown.length === all.length;
	return [
		isAll
			? `${about}. Its output:`
			: `${about}. The last ${counted(shown.length, 'line')} of its output, which is in ${sanitize(file)}:`,
		...shown.map((line) => finalLine(line)),
	].join('\n');
}
