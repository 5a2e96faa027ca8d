/** What a click, or a turn of the wheel, leads to: keys as they would be pressed, and changes of the state. */
import {placedDialog} from '../dialogs/dialog.js';
import {type Mode, modeOf} from '../state/keys.js';
import {isTooSmall} from '../layout.js';
import {footerKeyAt} from '../panels/footer.js';
import {gpuAt} from '../panels/gpus/panel.js';
import {hostLineAt} from '../panels/hosts.js';
import {loadTileAt} from '../panels/loads.js';
import {processAt} from '../panels/processes.js';
import {queueEntryAt} from '../panels/queue.js';
import {regionAt, roomIn, type Region} from '../regions.js';
import type {Pointed, PointerAction} from '../state/mouse.js';
import type {State} from '../state/state.js';
import type {MouseEvent} from './input.js';

/** A name of a key, see key-names.ts; or an action for the state. */
type Pointing = {readonly key: string} | {readonly action: PointerAction};

/** While a line is typed, the panels stand still. */
const typingModes: ReadonlySet<Mode> = new Set(['filter', 'hosts-filter', 'search']);

/** Lines that one turn of the wheel moves by. */
const wheelLines = 3;

const acting = (action: PointerAction): Pointing => ({action});

/** What stands at a line of a panel; below all rows there is the panel itself, and beside all graphs nothing. */
function pointedIn(state: State, region: Region, column: number, line: number): Pointed | undefined {
	const {panel} = region;
	const room = roomIn(region);
	if (panel === 'loads') {
		return line < 0 ? undefined : loadTileAt(state, room, {column, line});
	}

	if (line < 0) {
		return {on: 'panel', panel};
	}

	const found: Pointed | undefined =
		panel === 'table'
			? gpuAt(state, room, {column, line})
			: panel === 'processes'
				? processAt(state, room, {column, line})
				: panel === 'queue'
					? queueEntryAt(state, room, line)
					: panel === 'hosts'
						? hostLineAt(state, room, line)
						: undefined;
	return found ?? {on: 'panel', panel};
}

/** In a dialog: a field, a box, or the answer to its question. A click beside it changes nothing. */
function inDialog(state: State, {column, row}: MouseEvent): readonly Pointing[] {
	const {dialog} = state;
	const placed = placedDialog(state);
	if (dialog === undefined || placed === undefined) {
		return [];
	}

	const {top, left, width, height, fieldsFrom = Infinity, question} = placed;
	const line = row - top - 1;
	if (column <= left || column >= left + width - 1 || line < 0 || line >= height - 2) {
		return [];
	}

	// The frame, and a blank.
	const offset = column - left - 2;
	if (question?.line === line) {
		return offset === question.yes ? [{key: 'y'}] : offset === question.no ? [{key: 'n'}] : [];
	}

	const field = dialog.kind === 'form' ? dialog.fields[line - fieldsFrom] : undefined;
	if (field === undefined) {
		return [];
	}

	const focused = acting({kind: 'field-pointed', field: line - fieldsFrom});
	return field.kind === 'check' ? [focused, {key: ' '}] : [focused];
}

const repeated = (key: string): readonly Pointing[] => Array.from({length: wheelLines}, () => ({key}));

/** Lists and texts in a dialog scroll, and help turns its pages; in a form the wheel does nothing. */
function wheelInDialog({dialog}: State, isUp: boolean): readonly Pointing[] {
	return dialog?.kind === 'output' || dialog?.kind === 'columns'
		? repeated(isUp ? 'up' : 'down')
		: dialog?.kind === 'help'
			? [{key: isUp ? 'pageup' : 'pagedown'}]
			: [];
}

export function pointingAt(state: State, event: MouseEvent): readonly Pointing[] {
	const {column, row, kind} = event;
	const {size, dialog} = state;
	if (column >= size.columns || row >= size.rows || state.settings.isLinear || isTooSmall(state)) {
		return [];
	}

	if (kind === 'click' && row === size.rows - 1) {
		const key = footerKeyAt(state, column);
		return key === undefined ? [] : [{key}];
	}

	const isTyping = typingModes.has(modeOf(state));
	if (dialog !== undefined) {
		return kind === 'click' ? inDialog(state, event) : wheelInDialog(state, kind === 'wheel-up');
	}

	if (isTyping) {
		return [];
	}

	const region = regionAt(state, column, row);
	if (region === undefined) {
		return [];
	}

	if (kind === 'click') {
		const at = pointedIn(state, region, column - region.left - region.side, row - region.top - 1);
		return at === undefined ? [] : [acting({kind: 'pointed', at})];
	}

	const lines = kind === 'wheel-up' ? -wheelLines : wheelLines;
	return region.panel === 'loads' ? [] : [acting({kind: 'wheeled', panel: region.panel, lines})];
}
