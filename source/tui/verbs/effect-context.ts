/** What the effects of keys act on. */

import type {World} from '../../core/model/ports.js';
import type {MonitorPorts} from '../ports.js';
import type {StateStore} from '../state/store.js';
import type {Waits} from './waiting.js';

export type EffectContext = {
	readonly world: World;
	readonly store: StateStore;
	readonly ports: MonitorPorts;
	readonly waits: Waits;
	/** Read and scan again. */
	readonly refresh: () => void;
	readonly quit: () => void;
	/** Straight to the terminal, beside what is drawn. */
	readonly tellTerminal: (text: string) => void;
};
