/** The message line: what just happened, or what is wrong. */
import {recentLoss} from '../../core/rules/pool/alerts.js';
import {dataLossText} from '../../format/data-loss.js';
import {policyProblemText} from '../../format/policy.js';
import {shortDuration} from '../../format/text/durations.js';
import {counted} from '../../format/text/numbers.js';
import {gpuCountOf, type State} from '../state/state.js';
import {hostLines, allHostLines, type HostLine} from '../state/hosts/lines.js';
import {filteredRows} from '../state/table/rows.js';
import {allProcesses, visibleProcesses} from '../state/processes/rows.js';
import type {TextField} from '../state/text-field.js';
import {fieldSpans} from '../widgets/field.js';
import {matchCount} from '../state/search.js';
import {ellipsisOf, glyphsOf, type Glyphs} from '../widgets/drawing.js';
import {lineWidth, span, spread, type Line, type Tone, fitLine} from '../widgets/styled-text.js';
import type {Flash} from '../state/messages.js';
import type {CommandPrompt} from '../state/command-line/state.js';

type Message = Omit<Flash, 'level'> & {readonly level: Flash['level'] | 'waiting'};

const words: Readonly<Record<Message['level'], readonly [string, Tone]>> = {
	ok: ['OK', 'success'],
	warning: ['WARN', 'warning'],
	error: ['ERR', 'error'],
	waiting: ['WAIT', 'mine'],
};

/** What is wrong for as long as it is, where no message stands. */
function standing(state: State): Message | undefined {
	const {connection, snapshot, observation, scanFailure, nowMs, settings} = state;
	if (connection.kind === 'lost') {
		// The header has the time of the values.
		return {level: 'warning', text: `${connection.reason} - changes are disabled`};
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

	if (connection.kind === 'connecting' && settings.hasNoPool !== true) {
		return {level: 'ok', text: `reading the pool in ${settings.storeLocation}`};
	}

	const [wait, ...others] = state.waits;
	if (wait !== undefined) {
		return {level: 'waiting', text: wait.words + (others.length > 0 ? ` (and ${others.length} more)` : '')};
	}

	const loss = snapshot && recentLoss(snapshot);
	const text = loss ? dataLossText(loss, settings.formatTime) : snapshot && policyProblemText(snapshot);
	return text === undefined ? undefined : {level: 'warning', text};
}

/** `z Undo (8s)`, for as long as it can be done. */
function undoSpans({undo, nowMs, settings}: State): Line {
	const seconds = undo === undefined ? 0 : Math.ceil((undo.untilMs - nowMs) / 1000);
	// Read aloud, a countdown would never end.
	const left = settings.isLinear ? '' : `(${seconds}s) `;
	return seconds > 0 ? [span(' '), span('z', 'key'), span(` Undo ${left}`)] : [];
}

/** How much a filter leaves, of whichever table it is. */
function countText(state: State): string {
	if (state.processes.prompt !== undefined) {
		return `${visibleProcesses(state).length} of ${allProcesses(state).length} processes `;
	}

	const isGpu = ({kind}: HostLine): boolean => kind === 'gpu';
	const [shown, all] =
		state.hosts.prompt === undefined
			? [filteredRows(state).length, gpuCountOf(state)]
			: [
					hostLines(state).filter((line) => isGpu(line)).length,
					allHostLines(state).filter((line) => isGpu(line)).length,
				];
	return `${shown} of ${all} GPUs `;
}

/** The words being typed, and how many rows hold them. */
function promptLine(state: State, what: 'Filter' | 'Search', field: TextField, count: string): Line {
	const {columns} = state.size;
	const glyphs = glyphsOf(state);
	const value = fieldSpans(field, Math.max(8, columns - count.length - 12), glyphs);
	return spread([span(` ${what} `, 'key'), ...value], [span(count, 'dim')], columns, glyphs.ellipsis);
}

const commandSpans = (command: string | undefined): Line =>
	command === undefined ? [] : [span('  $ ', 'dim'), span(command, 'key'), span(' ')];

/** `:reserve -g 2`, with its caret. */
const commandPromptLine = ({field}: CommandPrompt, {columns}: State['size'], glyphs: Glyphs): Line =>
	fitLine([span(' :', 'key'), ...fieldSpans(field, Math.max(8, columns - 3), glyphs)], columns, glyphs.ellipsis);

export function messageLine(state: State): Line {
	const {columns} = state.size;
	if (state.search.prompt !== undefined) {
		return promptLine(state, 'Search', state.search.prompt, `${counted(matchCount(state), 'row')} `);
	}

	const prompt = state.hosts.prompt ?? state.processes.prompt ?? state.table.prompt;
	if (prompt !== undefined) {
		return promptLine(state, 'Filter', prompt.field, countText(state));
	}

	if (state.dialog?.kind === 'command') {
		return commandPromptLine(state.dialog, state.size, glyphsOf(state));
	}

	const flash: Message | undefined = state.flash ?? standing(state);
	const [word, tone] = flash === undefined ? ['', 'plain' as const] : words[flash.level];
	const left = flash === undefined ? [] : [span(` ${word} `, tone), span(flash.text)];
	const undo = undoSpans(state);
	const command = commandSpans(flash?.command);
	const isRoomy = lineWidth(left) + lineWidth(command) + lineWidth(undo) <= columns;
	// What happened keeps its first words beside a long command.
	const room = columns - Math.min(lineWidth(left), Math.floor(columns * 0.4)) - lineWidth(undo);
	const whole = commandSpans(flash?.next);
	const next = lineWidth(whole) > room ? fitLine(whole, room, ellipsisOf(state)) : whole;
	return spread(left, [...next, ...(isRoomy ? command : []), ...undo], columns, ellipsisOf(state));
}

/** What there is to say under the command line: that it was wrong, or what could stand there. Undefined: nothing but the keys. */
export function underPrompt({complaint, candidates, isBusy}: CommandPrompt, state: State): Line | undefined {
	const {columns} = state.size;
	const line = (...spans: Line): Line => fitLine([span(' '), ...spans], columns, ellipsisOf(state));
	if (isBusy) {
		return line(span('asking the pool', 'dim'));
	}

	if (complaint !== undefined) {
		const hint = (complaint.hint ?? '') === '' ? '' : `  ${complaint.hint}`;
		return line(span('ERR ', 'error'), span(complaint.message), span(hint, 'dim'));
	}

	return candidates.length === 0 ? undefined : line(span(candidates.join('  '), 'dim'));
}
