/**
The screen for a screen reader: sentences, one below another, without frames, bars or anything that changes with every second, because each
change is read aloud again.
*/
import {freeGpus, type StatusRow} from '../core/rules/pool/status.js';
import {roughDuration} from '../format/text/durations.js';
import {widthOf} from '../format/text/width.js';
import {sanitize} from '../format/text/text.js';
import {gibibytes, inventory} from '../format/readings.js';
import {hostLines, selectedLineIndex} from './state/hosts/lines.js';
import {visibleRows} from './state/table/rows.js';
import {gpuCountOf, rowsOf, type State} from './state/state.js';
import {dialogView} from './dialogs/dialog.js';
import {processesPanel} from './panels/processes.js';
import {eventsPanel} from './panels/events.js';
import {footerLine} from './panels/footer.js';
import {glyphsOf} from './widgets/drawing.js';
import {messageLine, underPrompt} from './panels/message.js';
import {hostsHeadLines} from './panels/hosts-head.js';
import {hostsPanel} from './panels/hosts.js';
import {queueView} from './panels/queue.js';
import {reportPanel} from './panels/report.js';
import {detailLines} from './panels/detail.js';
import {useSpan} from './panels/gpus/cells.js';
import {endText, otherFaultOf, ownerText, serviceText, stateWord} from './panels/shared/labels.js';
import {hotCelsius} from './panels/shared/load-cells.js';
import {windowOf} from './widgets/panel-frames.js';
import {lineText, type Line} from './widgets/styled-text.js';

/** To tens: what is said of a load should not change with each scan. */
const about = (percent: number): string => `${Math.round(percent / 10) * 10} percent`;

const sentence = (parts: ReadonlyArray<string | undefined>): string =>
	parts.filter((part) => part !== undefined && part !== '').join(', ');

/** Of a table, the cells alone: what rules it has no words. */
const withoutRules = (text: string): string => text.replaceAll(/[─┼]{2,}/gv, '').replaceAll(/ ?│ ?/gv, ', ');

const textOf = (line: Line): string => lineText(line).trim().replaceAll(/\s+/gv, ' ');

function readingWords({reading}: StatusRow): readonly string[] {
	const {utilizationPercent, memoryUsedMiB, memoryTotalMiB, temperatureCelsius} = reading ?? {};
	const total = memoryTotalMiB === undefined ? '' : ` of ${gibibytes(memoryTotalMiB)}`;
	return [
		utilizationPercent === undefined ? 'utilization unknown' : `utilization about ${about(utilizationPercent)}`,
		memoryUsedMiB === undefined
			? 'memory unknown'
			: `memory ${gibibytes(Math.round(memoryUsedMiB / 1024) * 1024)}${total}`,
		...(temperatureCelsius !== undefined && temperatureCelsius >= hotCelsius ? ['hot'] : []),
	];
}

function endSentence(row: StatusRow): string | undefined {
	if (row.lease === undefined) {
		return undefined;
	}

	if (row.lease.isSuspended === true) {
		return 'suspended';
	}

	return row.remainingSeconds === undefined
		? `ends ${endText(row).text}`
		: `ends in ${roughDuration(Math.max(60, row.remainingSeconds))}`;
}

function gpuSentence(row: StatusRow, state: State): string {
	const {requester} = state.settings;
	const isScanned = state.observation !== undefined;
	const fault = otherFaultOf(row);
	return sentence([
		`${row.index === state.selectedGpu ? 'Selected: ' : ''}GPU ${row.index}`,
		stateWord(row, requester, isScanned).text,
		ownerText(row, requester).text.replace(/^-$/v, ''),
		endSentence(row),
		...(isScanned ? readingWords(row) : []),
		serviceText(row)?.text,
		fault === undefined ? undefined : sanitize(fault),
		useSpan(row).text.replace(/^-$/v, ''),
	]);
}

function headSentence(state: State): string {
	const {settings, connection, observation, scanFailure} = state;
	const {model} = inventory(gpuCountOf(state), observation?.gpus ?? []);
	const connections = {connecting: 'connecting', live: 'live', lost: 'STALE: the store is lost'} as const;
	return sentence([
		`canhazgpu on ${sanitize(settings.hostname)}`,
		model,
		connection.kind === 'live' && (scanFailure !== undefined || state.pause !== undefined)
			? undefined
			: connections[connection.kind],
		state.pause === undefined ? undefined : 'PAUSED',
		scanFailure === undefined ? undefined : 'GPU scan failed',
		observation?.simulated ? 'simulated' : undefined,
		sanitize(settings.poolLabel ?? ''),
		settings.isReadonly ? 'read only' : undefined,
	]);
}

function countSentence(state: State): string {
	const rows = rowsOf(state);
	const free = freeGpus(rows);
	const count = (kind: StatusRow['state']): number => rows.filter((row) => row.state === kind).length;
	return sentence([
		`${free.whole} free`,
		free.split > 0 ? `${free.split} free but split by MIG` : '',
		`${count('in-use')} reserved`,
		`${count('unreserved')} used without a reservation`,
		`${count('error')} with errors`,
		`${state.snapshot?.queue.length ?? 0} waiting`,
	]);
}

/** Wide enough that nothing is cut. */
const unlimited = 400;

/** All hosts together, and the selected line with those below. */
function hostSentences(state: State, rows: number): readonly string[] {
	const first = selectedLineIndex(state) ?? 0;
	const fromSelected: State = {...state, hosts: {...state.hosts, firstLine: first}};
	const [, ...lines] = hostsPanel(fromSelected, {rows, width: 120}).lines;
	const total = hostLines(state).length;
	return [
		...hostsHeadLines({...state, size: {...state.size, columns: unlimited}}).map((line) => textOf(line)),
		...(total > 0 ? [`From line ${first + 1} of ${total}:`] : []),
		...lines.map((line) => textOf(line).replace(/^> /v, 'Selected: ')).filter((line) => line !== ''),
	];
}

/** Lines of the detail that are read at once. */
const mostDetail = 10;

/** What the panel with the focus holds beyond the GPUs. */
function panelSentences(state: State): readonly string[] {
	switch (state.panels.focus) {
		case 'table': {
			return [];
		}

		case 'detail': {
			const lines = detailLines(state, {rows: mostDetail, width: 100});
			const {from, to} = windowOf(state.panels.scroll.detail, {total: lines.length, shown: mostDetail});
			return [`Detail of GPU ${state.selectedGpu ?? ''}:`, ...lines.slice(from, to).map((line) => textOf(line))];
		}

		case 'queue': {
			return ['Queue:', ...queueView(state, 10, 80).lines.map((line) => textOf(line))];
		}

		case 'report': {
			return ['Report:', ...reportPanel(state, {rows: 14, width: 80}).lines.map((line) => textOf(line))];
		}

		case 'processes': {
			return ['Processes:', ...processesPanel(state, {rows: 11, width: 100}).lines.map((line) => textOf(line))];
		}

		case 'hosts': {
			return ['Hosts:', ...hostSentences(state, 12)];
		}

		case 'events': {
			return ['Events:', ...eventsPanel(state, {rows: 8}).lines.map((line) => textOf(line))];
		}
	}
}

/** The GPUs around the selected one, as many as there are rows for. */
function gpuSentences(state: State, rows: number): readonly string[] {
	const all = visibleRows(state);
	const heights = all.map((row) => {
		const text = gpuSentence(row, state);
		return {text, height: Math.max(1, Math.ceil(widthOf(text) / state.size.columns))};
	});
	const selected = Math.max(
		0,
		all.findIndex(({index}) => index === state.selectedGpu),
	);
	let [from, to] = [selected, selected];
	let spare = rows;
	while (spare > 0 && (from > 0 || to < all.length)) {
		// Downwards first.
		const isDown = to < all.length;
		const next = heights[isDown ? to : from - 1]!;
		spare -= next.height;
		if (spare < 0) {
			break;
		}

		to += isDown ? 1 : 0;
		from -= isDown ? 0 : 1;
	}

	const shown = heights.slice(from, to).map(({text}) => text);
	return to - from < all.length ? [`GPUs ${from + 1} to ${to} of ${all.length}:`, ...shown] : shown;
}

/** Standing troubles are in the first sentence, without their age. */
function messageSentence(state: State, wide: State): string {
	return state.flash === undefined &&
		(state.table.prompt ?? state.processes.prompt ?? state.hosts.prompt ?? state.search.prompt) === undefined
		? ''
		: textOf(messageLine(wide));
}

export function linearLines(state: State): readonly string[] {
	const wide: State = {...state, size: {...state.size, columns: unlimited}};
	const dialog = state.dialog && dialogView(state.dialog, wide, glyphsOf(state));
	const keys = `Keys: ${textOf(footerLine(wide))}`;
	if (state.dialog?.kind === 'command') {
		const {dialog: prompt} = state;
		const said = [messageLine(wide), underPrompt(prompt, wide) ?? []].map((line) => textOf(line));
		const usual: State = {...wide, dialog: {...prompt, isBusy: false, complaint: undefined, candidates: []}};
		return [...said.filter((line) => line !== ''), `Keys: ${textOf(footerLine(usual))}`];
	}

	if (dialog !== undefined) {
		return [
			`${dialog.title}:`,
			...dialog.lines.map((line) => withoutRules(textOf(line))).filter((line) => line !== ''),
			keys,
		];
	}

	const message = messageSentence(state, wide);
	const before = [headSentence(state), countSentence(state)];
	const after = [...panelSentences(state), ...(message === '' ? [] : [message]), keys];
	const used = [...before, ...after].reduce(
		(sum, line) => sum + Math.max(1, Math.ceil(widthOf(line) / state.size.columns)),
		2,
	);
	return [...before, ...gpuSentences(state, Math.max(1, state.size.rows - used)), ...after];
}
