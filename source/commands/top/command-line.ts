/** Runs commands typed into the monitor, on the pool that the monitor shows. */
import {CanhazgpuError, withFallback} from '../../errors.js';
import {intervalText} from '../../format/text/durations.js';
import {createPaint} from '../../format/text/paint.js';
import {shellCommand, shellWords} from '../../format/text/shell.js';
import type {App, OpenWorld} from '../../app/contract.js';
import {themeNames, usualScanIntervals} from '../../format/monitor-settings.js';
import type {CommandLine, LineOptions, LiveOutput} from '../../tui/ports.js';
import type {Command, Grammar, Input} from '../../command-line/command.js';
import type {JobRow} from '../../core/rules/jobs/rows.js';
import {candidatesOf, isAboutJobs} from '../../command-line/completion/known-values.js';
import {completeWords} from '../../command-line/completion/words.js';
import {globalFlags} from '../../command-line/flags.js';
import {listJobs} from '../jobs/list-jobs.js';
import type {HostOutputs} from './hosts.js';
import {namingReplaced} from './replaced.js';

/** The commands that work in the monitor. The other commands need a terminal or do not end. */
const manners: Readonly<Record<string, 'reads' | 'changes'>> = {
	status: 'reads',
	reserve: 'changes',
	extend: 'changes',
	release: 'changes',
	queue: 'reads',
	report: 'reads',
	events: 'reads',
	doctor: 'reads',
	admin: 'changes',
	jobs: 'reads',
	cancel: 'changes',
	retry: 'changes',
};

/** The flags of `admin` that are supported in the monitor. Without them, `admin` creates a pool. */
const flagsOfAdmin = ['policy', 'set', 'unset', 'drain', 'undrain'];

/** A command that exists only in the monitor: `host` shows all hosts, and `host NAME` shows one. */
const hostWord = 'host';
const hostWords = new Set([hostWord, 'hosts']);

/** Returns the name after `host`, or an empty string for all hosts. Returns undefined for another command. */
function hostOf([first = '', name = '', ...others]: readonly string[]): string | undefined {
	if (!hostWords.has(first)) {
		return undefined;
	}

	if (others.length > 0) {
		throw new CanhazgpuError('usage', 'host takes one host name', {
			hint: 'To see all hosts, type host without a name.',
		});
	}

	return name;
}

function withoutHostWord(words: readonly string[], own: string | undefined): readonly string[] {
	const name = hostOf(words);
	switch (name) {
		case undefined: {
			return words;
		}

		case '': {
			return ['status', '--all', '--summary'];
		}

		case own: {
			return ['status'];
		}

		default: {
			return ['status', `--remote=${name}`];
		}
	}
}

const logsWord = 'logs';

/** Returns the job id after `logs`. Ignores `--follow`, because the monitor always follows the output. */
function logIdIn([, ...words]: readonly string[]): string {
	const [id, ...others] = words.filter((word) => word !== '-f' && word !== '--follow');
	if (id === undefined || id.startsWith('-') || others.length > 0) {
		throw new CanhazgpuError('usage', 'logs takes the id of one job', {hint: 'For example: logs 7'});
	}

	return id;
}

const ownJobs = async (world: OpenWorld, account: string): Promise<readonly JobRow[]> =>
	withFallback(
		async () => (await listJobs(world, {account, isAll: false})).rows,
		() => [],
	);

const programs = new Set(['canhazgpu', 'chg']);

function changesPool(name: string, manner: 'reads' | 'changes', input: Input): boolean {
	const onlyShows = name === 'admin' && input.has('policy');
	return (manner === 'changes' && !onlyShows) || (name === 'queue' && input.has('leave'));
}

/** The flags that no command supports in the monitor. `--on` starts ssh, which needs the terminal, except in a cluster, where it names a node. */
const unsupportedFlags = (hasEngine: boolean): readonly string[] => (hasEngine ? ['follow'] : ['follow', 'on']);

const offered = (command: Command, hasEngine: boolean): Command => {
	const flags = Object.entries(command.flags).filter(([name]) => !unsupportedFlags(hasEngine).includes(name));
	return {...command, flags: Object.fromEntries(flags)};
};

type MonitorKind = {readonly isReadonly: boolean; readonly hasEngine: boolean};

function checkUse(name: string, input: Input, {isReadonly, hasEngine}: MonitorKind): void {
	const manner = Object.hasOwn(manners, name) ? manners[name] : undefined;
	if (name === 'keep') {
		throw new CanhazgpuError('usage', 'keep cannot be used inside the monitor', {
			hint: 'To keep your own GPUs: extend --keep 2h, or the key E',
		});
	}

	if (manner === undefined) {
		throw new CanhazgpuError('usage', `${name} cannot be used inside the monitor`, {
			hint: `Type it in a shell: canhazgpu ${name}`,
		});
	}

	if (name === 'admin' && flagsOfAdmin.every((flag) => !input.has(flag))) {
		throw new CanhazgpuError('usage', 'admin cannot create a pool inside the monitor', {
			hint: `Type it in a shell. Inside the monitor, admin takes only ${flagsOfAdmin.map((flag) => `--${flag}`).join(', ')}.`,
		});
	}

	if (input.has('follow')) {
		throw new CanhazgpuError('usage', `${name} --follow cannot be used inside the monitor`, {
			hint: 'The monitor already shows changes. Leave out --follow.',
		});
	}

	if (unsupportedFlags(hasEngine).includes('on') && input.has('on')) {
		throw new CanhazgpuError('usage', '--on cannot be used inside the monitor', {
			hint: 'Type it in a shell, or press H for the GPUs of all hosts.',
		});
	}

	const given = Object.keys(globalFlags).find((flag) => flag !== 'no-color' && input.has(flag));
	if (given !== undefined) {
		throw new CanhazgpuError('usage', `--${given} cannot be changed inside the monitor`, {hint: 'Leave it out.'});
	}

	if (isReadonly && changesPool(name, manner, input)) {
		throw new CanhazgpuError('failed', 'This monitor is read-only: it was started with --readonly');
	}
}

const mostLines = 5000;

/** Returns the app with which the monitor runs a command: its output is collected, and it uses the pool that the monitor has open. */
function innerApp(app: App, world: OpenWorld, {signal, onWaiting, onReleased}: LineOptions, printed: string[]): App {
	const print = (text: string): void => {
		for (const line of text.split('\n')) {
			printed.push(line);
		}

		printed.splice(0, printed.length - mostLines);
	};

	return {
		...app,
		open: async () => ({...world, close: async () => undefined}),
		paint: createPaint(false, {}),
		print,
		remark: print,
		isTerminal: false,
		columns: undefined,
		liveErrors: undefined,
		onWaiting,
		onReleased,
		// The monitor handles uncaught errors itself.
		outliveBugs: () => undefined,
		interruption: () => ({signal, exitCode: () => 130, end: () => undefined}),
	};
}

type Options = {
	readonly app: App;
	readonly world: OpenWorld;
	readonly grammar: Grammar;
	readonly isReadonly: boolean;
	readonly hosts: HostOutputs;
	readonly logOf: (id: string) => LiveOutput;
};

function wordsOf(line: string): readonly string[] {
	const typed = shellWords(line);
	return programs.has(typed[0] ?? '') ? typed.slice(1) : typed;
}

export const createCommandLine = ({app, world, grammar, isReadonly, hosts, logOf}: Options): CommandLine => ({
	run: async (line, options) =>
		namingReplaced(async () => {
			const understood = await grammar.understand(wordsOf(line));
			if ('text' in understood) {
				return understood.text.split('\n');
			}

			const {command, input} = understood;
			checkUse(command.name, input, {isReadonly, hasEngine: world.engine !== undefined});
			const printed: string[] = [];
			await command.run(innerApp(app, world, options, printed), input);
			return printed;
		}),
	liveOutputOf(line) {
		const words = wordsOf(line);
		if (words[0] === logsWord) {
			return logOf(logIdIn(words));
		}

		const name = hostOf(words);
		return name === undefined ? undefined : name === '' ? hosts.all : hosts.one(name);
	},
	inShell: (line) => shellCommand(['canhazgpu', ...withoutHostWord(wordsOf(line), hosts.own)]),
	async complete(line, seen) {
		const requester = app.requester(undefined);
		const start = line.search(/(?<!\S)\S*$/v);
		const before = line.slice(0, start).split(/\s+/v).filter(Boolean);
		const completed = await namingReplaced(async () =>
			completeWords(before, line.slice(start), {
				commands: grammar.commands.filter((name) => name === logsWord || Object.hasOwn(manners, name)),
				names: {
					[hostWord]: ['all', ...hosts.names],
					// `:theme` and `:interval` change options of the monitor, which handles these lines itself.
					theme: themeNames,
					interval: usualScanIntervals.map((seconds) => intervalText(seconds * 1000)),
				},
				find: async (name) => offered(await grammar.find(name), world.engine !== undefined),
				globals: {},
				isDescribed: false,
				know: async (kind) =>
					candidatesOf(kind, {
						...seen,
						requester,
						hosts: hosts.names,
						jobs: isAboutJobs(kind) ? await ownJobs(world, requester.account) : [],
					}),
			}),
		);
		return {start, candidates: completed.kind === 'words' ? completed.candidates.map(({word}) => word) : []};
	},
});
