/** Verbs typed into the monitor: the same grammar, the same verbs and the same words, on the pool that the monitor shows. */
import {CanhazgpuError} from '../../errors.js';
import {createPaint} from '../../format/text/paint.js';
import {shellCommand, shellWords} from '../../format/text/shell.js';
import type {App, OpenWorld} from '../../app/contract.js';
import type {CommandLine, LineOptions} from '../../tui/ports.js';
import type {Grammar, Input} from '../../command-line/command.js';
import {candidatesOf} from '../../command-line/completion/known-values.js';
import {completeWords} from '../../command-line/completion/words.js';
import {globalFlags} from '../../command-line/flags.js';
import type {HostOutputs} from './hosts.js';
import {namingReplaced} from './replaced.js';

/** The verbs that make sense there. All others need a terminal, or are no matter of a moment. */
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
};

/** Flags by which `admin` shows or changes the pool that is there. Without one of them it makes a pool. */
const flagsOfAdmin = ['policy', 'set', 'unset', 'drain', 'undrain'];

/** A word of the monitor's own: `host` tells of all hosts, `host NAME` of that one. */
const hostWord = 'host';
const hostWords = new Set([hostWord, 'hosts']);

/** The name behind `host`, empty for all of them; undefined for another line. */
function hostOf([first = '', name = '', ...others]: readonly string[]): string | undefined {
	if (!hostWords.has(first)) {
		return undefined;
	}

	if (others.length > 0) {
		throw new CanhazgpuError('usage', 'host takes the name of one host', {hint: 'Type host alone for all of them.'});
	}

	return name;
}

/** The words for the same in a shell. */
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

const programs = new Set(['canhazgpu', 'chg']);

function changesPool(verb: string, manner: 'reads' | 'changes', input: Input): boolean {
	const onlyShows = verb === 'admin' && input.has('policy');
	return (manner === 'changes' && !onlyShows) || (verb === 'queue' && input.has('leave'));
}

type MonitorKind = {readonly isReadonly: boolean; readonly hasEngine: boolean};

function checkVerb(verb: string, input: Input, {isReadonly, hasEngine}: MonitorKind): void {
	const manner = Object.hasOwn(manners, verb) ? manners[verb] : undefined;
	if (manner === undefined) {
		throw new CanhazgpuError('usage', `${verb} cannot be used inside the monitor`, {
			hint: `Type it in a shell: canhazgpu ${verb}`,
		});
	}

	if (verb === 'admin' && flagsOfAdmin.every((flag) => !input.has(flag))) {
		throw new CanhazgpuError('usage', 'admin makes a pool, which cannot be done inside the monitor', {
			hint: `Type it in a shell. Here it takes ${flagsOfAdmin.map((flag) => `--${flag}`).join(', ')}.`,
		});
	}

	if (input.has('follow')) {
		throw new CanhazgpuError('usage', `${verb} --follow cannot be used inside the monitor`, {
			hint: 'The monitor shows that anyway. Or leave out --follow.',
		});
	}

	// There ssh runs on the terminal, which is the monitor's. Of a cluster --on names a node.
	if (!hasEngine && input.has('on')) {
		throw new CanhazgpuError('usage', '--on cannot be used inside the monitor', {
			hint: 'Type it in a shell, or press H for the GPUs of all hosts.',
		});
	}

	const given = Object.keys(globalFlags).find((flag) => flag !== 'no-color' && input.has(flag));
	if (given !== undefined) {
		throw new CanhazgpuError('usage', `--${given} was settled when the monitor started`, {hint: 'Leave it out.'});
	}

	if (isReadonly && changesPool(verb, manner, input)) {
		throw new CanhazgpuError('failed', 'This monitor is read-only: it was started with --readonly');
	}
}

/** More than a user scrolls through: of a longer output the end is kept. */
const mostLines = 5000;

/** The program as a verb inside the monitor sees it: what it prints is collected, and the pool is open already and stays so. */
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
		// The monitor ends in good order by its own bugs.
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
};

function wordsOf(line: string): readonly string[] {
	const typed = shellWords(line);
	return programs.has(typed[0] ?? '') ? typed.slice(1) : typed;
}

export const createCommandLine = ({app, world, grammar, isReadonly, hosts}: Options): CommandLine => ({
	run: async (line, options) =>
		namingReplaced(async () => {
			const understood = await grammar.understand(wordsOf(line));
			if ('text' in understood) {
				return understood.text.split('\n');
			}

			const {command, input} = understood;
			checkVerb(command.name, input, {isReadonly, hasEngine: world.engine !== undefined});
			const printed: string[] = [];
			await command.run(innerApp(app, world, options, printed), input);
			return printed;
		}),
	liveOutputOf(line) {
		const name = hostOf(wordsOf(line));
		return name === undefined ? undefined : name === '' ? hosts.all : hosts.one(name);
	},
	inShell: (line) => shellCommand(['canhazgpu', ...withoutHostWord(wordsOf(line), hosts.own)]),
	async complete(line, seen) {
		const start = line.search(/(?<!\S)\S*$/v);
		const before = line.slice(0, start).split(/\s+/v).filter(Boolean);
		const completed = await namingReplaced(async () =>
			completeWords(before, line.slice(start), {
				verbs: grammar.verbs.filter((verb) => Object.hasOwn(manners, verb)),
				names: {[hostWord]: ['all', ...hosts.names]},
				find: grammar.find,
				// Those were settled when the monitor started.
				globals: {},
				isDescribed: false,
				know: async (kind) => candidatesOf(kind, {...seen, requester: app.requester(undefined), hosts: hosts.names}),
			}),
		);
		return {start, candidates: completed.kind === 'words' ? completed.candidates.map(({word}) => word) : []};
	},
});
