/** The message line: what just happened, or what is wrong. */
import {shortDuration} from '../../format/durations.js';
import {gpuCountOf, type Flash, type State} from '../state.js';
import {visibleRows} from '../table/rows.js';
import type {FilterPrompt} from '../table/state.js';
import {fieldSpans} from './field.js';
import {ellipsisOf, glyphsOf} from './glyphs.js';
import {fitLine, span, spread, type Line, type Tone} from './spans.js';

const words: Readonly<Record<Flash['level'], readonly [string, Tone]>> = {
	ok: ['OK', 'success'],
	warning: ['WARN', 'warning'],
	error: ['ERR', 'error'],
};

/** What is wrong for as long as it is, where no message stands. */
function standing(state: State): Flash | undefined {
	const {connection, snapshot, snapshotAtMs, observation, scanFailure, nowMs, settings} = state;
	if (connection.kind === 'lost') {
		// It was up to date until the moment it was lost.
		const values =
			snapshot &&
			`values from ${settings.formatTime(snapshot.now + Math.max(0, connection.sinceMs - snapshotAtMs) / 1000)}`;
		return {
			level: 'warning',
			text: [`${connection.reason}:`, values ?? 'nothing was read yet', '- changes are disabled'].join(' '),
		};
	}

	if (scanFailure !== undefined) {
		const readings =
			observation === undefined
				? 'no readings yet'
				: `readings are ${shortDuration((nowMs - observation.takenAtMs) / 1000)} old`;
		return {
			level: 'warning',
			text: [`GPU scan failed: ${scanFailure.message} (${readings})`, scanFailure.hint].filter(Boolean).join('. '),
		};
	}

	return connection.kind === 'connecting'
		? {level: 'ok', text: `reading the pool in ${settings.storeLocation}`}
		: undefined;
}

/** The filter being typed, and how much it leaves. */
function promptLine(state: State, {field}: FilterPrompt): Line {
	const {columns} = state.size;
	const glyphs = glyphsOf(state);
	const count = `${visibleRows(state).length} of ${gpuCountOf(state)} GPUs `;
	const value = fieldSpans(field, Math.max(8, columns - count.length - 12), glyphs);
	return spread([span(' Filter ', 'key'), ...value], [span(count, 'dim')], columns, glyphs.ellipsis);
}

export function messageLine(state: State): Line {
	const {columns} = state.size;
	if (state.table.prompt !== undefined) {
		return promptLine(state, state.table.prompt);
	}

	const flash = state.flash ?? standing(state);
	if (flash === undefined) {
		return fitLine([], columns);
	}

	const [word, tone] = words[flash.level];
	const left = [span(` ${word} `, tone), span(flash.text)];
	const right = flash.command === undefined ? [] : [span('  $ ', 'dim'), span(flash.command, 'key'), span(' ')];
	return spread(left, right, columns, ellipsisOf(state));
}
