/** What a key can lead to, by name. */

import type {CommandLineIntent} from '../command-line/reduce.js';
import type {HostsIntent} from '../hosts/reduce.js';
import type {PanelIntent} from '../panels/reduce.js';
import type {SearchIntent} from '../search/reduce.js';
import type {ViewIntent} from '../view/reduce.js';
import type {Edit} from '../text-field.js';
import type {TableIntent} from '../table/reduce.js';

/** Opens and closes what stands over the panels. */
export type DialogIntent =
	| 'open-help'
	| 'close-dialog'
	| 'toggle-pause'
	| 'toggle-mouse'
	| 'open-process'
	| 'next-process'
	| 'previous-process'
	| CommandLineIntent;

/** Changes what is being filled in. */
export type FormIntent = Edit | 'focus-next-field' | 'focus-previous-field' | 'increase' | 'decrease';

/** What the user wants of the monitor's own state; the reducer knows it by the same name. */
export type StateIntent =
	DialogIntent | TableIntent | PanelIntent | HostsIntent | ViewIntent | SearchIntent | FormIntent;

/** What reaches out of the state: the controller sees to it. */
type OutwardIntent =
	| 'quit-now'
	| 'suspend'
	| 'refresh'
	| 'submit'
	/** The same, waiting in the queue when there are not enough. */
	| 'submit-patiently'
	/** What the chosen line of an output leads to. */
	| 'open-line'
	| 'complete';

/** What the user wants. */
export type Intent = StateIntent | OutwardIntent;
