/** The list of all commands of the monitor, in the order of the help and the footer. */
import {command} from './command-line.js';
import {adopt} from './adopt.js';
import {applyChosenOptions} from './settings/apply-options.js';
import {copy} from './copying/copy.js';
import {copyCommand} from './copying/copy-command.js';
import {extend} from './extend.js';
import {extendOverHosts} from './hosts/extend.js';
import {openHost} from './hosts/open.js';
import {releaseOverHosts} from './hosts/release.js';
import {reserveOverHosts, reserveThisOverHosts} from './hosts/reserve.js';
import {cancelJob} from './jobs/cancel.js';
import {retryJob} from './jobs/retry.js';
import {showLog} from './jobs/show-log.js';
import {identify} from './identify.js';
import {keepOptions} from './settings/keep-options.js';
import {keep} from './keep.js';
import {leave} from './leave.js';
import {past} from './past.js';
import {quit} from './quit.js';
import {readWhole} from './read-whole.js';
import {release} from './release.js';
import {reserve} from './reserve.js';
import {saveView} from './settings/save-view.js';
import {signal} from './processes/signal.js';
import {undo} from './undo.js';
import type {MonitorCommand} from './command.js';
import {wait} from './wait.js';

export const commands = {
	/** Commands that the help lists before the keys that move in the table. */
	pool: [reserve, adopt, release, extend, keep, leave, wait],
	/** Commands that the help lists with the keys for processes. */
	processes: [signal],
	jobs: [showLog, cancelJob, retryJob],
	hosts: [reserveOverHosts, reserveThisOverHosts, releaseOverHosts, extendOverHosts, openHost],
	/** Commands whose own keys do not reserve or release GPUs. */
	aside: [command, undo, copy, copyCommand, identify, past],
	/** Commands that the help lists with the keys that choose the view. */
	view: [saveView],
	options: [applyChosenOptions, keepOptions],
	end: [readWhole, quit],
} as const satisfies Readonly<Record<string, readonly MonitorCommand[]>>;

const byName = new Map(
	Object.values(commands)
		.flat()
		.map((each: MonitorCommand) => [each.name, each]),
);

export const commandOf = ({command: name}: {readonly command: string}): MonitorCommand => byName.get(name)!;
