/** The registry: every verb of the monitor, in the order in which the help and the footer name them. */
import {command} from './command-line.js';
import {adopt} from './adopt.js';
import {copy} from './copying/copy.js';
import {copyCommand} from './copying/copy-command.js';
import {extend} from './extend.js';
import {extendOverHosts} from './hosts/extend.js';
import {openHost} from './hosts/open.js';
import {releaseOverHosts} from './hosts/release.js';
import {reserveOverHosts, reserveThisOverHosts} from './hosts/reserve.js';
import {identify} from './identify.js';
import {leave} from './leave.js';
import {past} from './past.js';
import {quit} from './quit.js';
import {release} from './release.js';
import {reserve} from './reserve.js';
import {saveView} from './save-view.js';
import {signal} from './signal.js';
import {undo} from './undo.js';
import type {Verb} from './verb.js';
import {wait} from './wait.js';

export const verbs = {
	/** Before the keys that move over the table. */
	pool: [reserve, adopt, release, extend, leave, wait],
	/** Among the keys about processes. */
	processes: [signal],
	/** Over the table of all hosts. */
	hosts: [reserveOverHosts, reserveThisOverHosts, releaseOverHosts, extendOverHosts, openHost],
	/** Among the keys that change nothing of the pool. */
	aside: [command, undo, copy, copyCommand, identify, past],
	/** Beside the keys that choose what is shown. */
	view: [saveView],
	/** At the very end. */
	end: [quit],
} as const satisfies Readonly<Record<string, readonly Verb[]>>;

const byName = new Map(
	Object.values(verbs)
		.flat()
		.map((verb: Verb) => [verb.name, verb]),
);

/** The verb whose dialog it is. */
export const verbOf = ({verb}: {readonly verb: string}): Verb => byName.get(verb)!;
