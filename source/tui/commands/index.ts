/** The list of all commands of the monitor, in the order of the help and the footer. */
import {command} from './command-line.js';
import type {MonitorCommand} from './command.js';
import {copy, copyCommand, identify} from './copy.js';
import {extendOverHosts} from './hosts/extend.js';
import {openHost} from './hosts/open.js';
import {releaseOverHosts} from './hosts/release.js';
import {reserveOverHosts, reserveThisOverHosts} from './hosts/reserve.js';
import {cancelJob, retryJob, showLog} from './jobs.js';
import {leave} from './leave.js';
import {past} from './past.js';
import {signal} from './processes/signal.js';
import {quit} from './quit.js';
import {readWhole} from './read-whole.js';
import {extend} from './reservations/extend.js';
import {keep} from './reservations/keep.js';
import {release} from './reservations/release.js';
import {undo} from './reservations/undo.js';
import {adopt} from './reserve/adopt.js';
import {reserve, wait} from './reserve/reserve.js';
import {applyChosenOptions, keepOptions, saveView} from './settings.js';

export const commands = {
	/** Commands that the help lists before the keys that move in the table. */
	pool: [reserve, adopt, release, extend, keep, leave, wait],
	/** Commands that the help lists with the keys for processes. */
	processes: [signal],
	jobs: [showLog, cancelJob, retryJob],
	hosts: [reserveOverHosts, reserveThisOverHosts, releaseOverHosts, extendOverHosts, openHost],
	aside: [command, undo, copy, copyCommand, identify, past],
	/** Commands that the help lists with the keys for presets and columns. */
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
