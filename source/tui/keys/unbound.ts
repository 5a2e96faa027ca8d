/** What is said of a key that does nothing where it was pressed. */
import {sanitize} from '../../format/text/text.js';
import {panelModes, type Mode} from '../state/keys.js';
import type {Binding} from './bindings.js';
import {keyText} from './key-text.js';

type PanelMode = (typeof panelModes)[number];

/** Which key leads to each panel, and its title there. */
const panelTitles: Readonly<Record<PanelMode, string>> = {
	table: '1 GPUs',
	detail: '2 Detail',
	queue: '3 Queue',
	report: '4 Report',
	events: '5 Events',
	processes: '6 Processes',
	hosts: '7 Hosts',
};

export const isPanelMode = (mode: Mode): mode is PanelMode => (panelModes as readonly Mode[]).includes(mode);

/** In which panels the key does something, or that it does nothing in any. */
export function unboundText(key: string, bindings: readonly Binding[]): string {
	const name = sanitize(keyText(key));
	const panels = panelModes
		.filter((mode) => bindings.some(({modes, keys}) => modes.includes(mode) && keys.includes(key)))
		.map((mode) => panelTitles[mode]);
	return panels.length === 0
		? `${name} is no key of the monitor: ? shows them all`
		: `${name} does nothing here. It is a key of ${panels.join(', ')}`;
}
