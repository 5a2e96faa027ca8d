/** Runs every command on machines that each lack something. Each command works as on a complete machine, or says what is missing. Prints a table. */
import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {readdirSync, readlinkSync} from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import {text} from 'node:stream/consumers';
import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import {eventually} from '../_helpers/eventually.js';
import {
	canLackFacts,
	createMachine,
	missingFacts,
	wholeMachine,
	type Fact,
	type Machine,
	type Place,
} from '../_helpers/machine/missing-facts.js';
import {freePort} from '../_helpers/machine/ssh-server.js';
import {openTerminal} from '../_helpers/machine/terminal.js';
import type {Ran} from '../_helpers/program/cli.js';

/** In this order on one pool: a reservation is made, extended and released, and job 1 ends before it is retried. */
const commands = [
	'--version',
	'--help',
	'help setup',
	'status --help',
	'status',
	'status --json',
	'status --all',
	'status --remote nowhere',
	'reserve --short -d 1h',
	'extend -d 1h',
	'run -- true',
	'run --on nowhere -- true',
	'run --detach -- true',
	'wait 1',
	'logs 1',
	'retry 1',
	'run --detach --begin 1h -- true',
	'jobs --all',
	'cancel 2',
	'queue',
	'queue --why',
	'who 0',
	'report',
	'events',
	'release',
	'top',
	'top --once',
	'top --once --demo',
	'web',
	'keep',
	'notify',
	'mcp',
	'completion bash',
	'--complete bash status --config ~/',
	'doctor',
	'admin --gpus 4 --provider fake',
] as const;

/** Commands that use a private pool if the machine has none. */
const privateCommands: ReadonlySet<string> = new Set(['status', 'top --once', 'admin --gpus 4 --provider fake']);

const noPool = '/dev/null/pool';

/** An expected difference from a complete machine: the exit code, and stderr. */
type Difference = {
	readonly fact: RegExp;
	readonly typed: RegExp;
	readonly exitCode: number;
	readonly says: RegExp;
};

const differences: readonly Difference[] = [
	{
		fact: /^home and user name|^home: (?:empty|relative)/v,
		typed: /^admin .*private/v,
		exitCode: 4,
		says: /^Error: This account has no home directory for a private pool\nSet HOME or XDG_STATE_HOME/v,
	},
	{
		fact: /^home and user name|^home: (?:empty|relative)/v,
		typed: /^run --detach|^retry/v,
		exitCode: 1,
		says: /^Error: This account has no home directory for the output of jobs\nSet HOME or XDG_STATE_HOME/v,
	},
	{
		fact: /^home: /v,
		typed: /^run --detach|^retry/v,
		exitCode: 1,
		says: /^Error: The output of the job cannot be kept in .*\nNothing was started\. To keep .*, set XDG_STATE_HOME/v,
	},
	{
		fact: /^directory: deleted/v,
		typed: /^run --detach/v,
		exitCode: 1,
		says: /Error: The current directory has been removed, so the job cannot start in it\nChange to another directory/v,
	},
	{
		fact: /^PATH: empty/v,
		typed: /^run --detach/v,
		exitCode: 127,
		says: /^Error: Command not found: "true"\n$/v,
	},
	{
		// No job was submitted.
		fact: /^home|^directory: deleted|^PATH: empty/v,
		typed: /^(?:wait|logs|retry|cancel) /v,
		exitCode: 2,
		says: /Error: There is no job \d\n/v,
	},
	{
		fact: /^home: /v,
		typed: /^admin .*private/v,
		exitCode: 4,
		says: /^Error: The GPU pool \S+ (?:cannot be opened: permission denied|cannot be created: its directory is a file)\nSet HOME/v,
	},
	{fact: /^host name/v, typed: /^status --all/v, exitCode: 0, says: /behind the pool of localhost\.\n$/v},
	{fact: /^PATH: empty/v, typed: /^run -- true/v, exitCode: 127, says: /^Error: Command not found: "true"\n$/v},
	{fact: /^PATH: empty/v, typed: /^run --on/v, exitCode: 127, says: /^Error: Command not found: "ssh"\n$/v},
	{fact: /^PATH: empty/v, typed: /^status --remote/v, exitCode: 1, says: /: ssh is not installed here\n$/v},
	{
		fact: /^\/proc$/v,
		typed: /^reserve/v,
		exitCode: 0,
		says: /Without \/proc, the account of this command is unknown\. Mount it: mount -t proc proc \/proc\n$/v,
	},
];

/** The exit codes in `--help`, and that of ssh. */
const documented = new Set([0, 1, 2, 3, 4, 124, 126, 127, 255]);

async function runWeb(machine: Machine, fact: Fact, place: Place): Promise<Ran> {
	const port = await freePort();
	const [command, ...words] = machine.words(fact, place, ['web', '--port', String(port)]);
	const child = spawn(command, words, {stdio: ['ignore', 'pipe', 'pipe']});
	const output = Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
	try {
		await eventually(async () => {
			const {status} = await fetch(`http://127.0.0.1:${port}/api/status`);
			return status === 200;
		});
	} finally {
		child.kill('SIGTERM');
	}

	const [stdout, stderr] = await output;
	return {exitCode: child.exitCode ?? undefined, stdout: stdout.replaceAll(String(port), 'PORT'), stderr};
}

/** Runs the monitor on a terminal, and quits it. If stdin or stdout is closed, it prints once and ends. */
async function runTop(machine: Machine, fact: Fact, place: Place): Promise<Ran> {
	const [command, ...words] = machine.words(fact, place, ['top']);
	const terminal = openTerminal(command, words, {columns: 100, rows: 30});
	const ended = terminal.exit.then(() => true);
	const isInteractive = !/std(?:in|out)/v.test(fact.name);
	try {
		await (isInteractive ? terminal.waitFor(/Free +4/v) : ended);
		terminal.write('q');
		const {exitCode} = await terminal.exit;
		return {exitCode, stdout: '', stderr: ''};
	} finally {
		await terminal.close();
	}
}

/** Runs `keep` until it has opened the pool, and ends it. */
async function runKeep(machine: Machine, fact: Fact, place: Place): Promise<Ran> {
	const [command, ...words] = machine.words(fact, place, ['keep']);
	const child = spawn(command, words, {stdio: ['ignore', 'pipe', 'pipe']});
	const output = Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
	const files = `/proc/${child.pid!}/fd`;
	const hasOpened = (): boolean =>
		readdirSync(files).some((file) => readlinkSync(path.join(files, file)).startsWith(place.pool));
	try {
		await eventually(() => child.exitCode !== null || hasOpened());
	} finally {
		child.kill('SIGTERM');
	}

	const [stdout, stderr] = await output;
	return {exitCode: child.exitCode ?? undefined, stdout, stderr};
}

async function runTyped(machine: Machine, fact: Fact, place: Place, typed: string): Promise<Ran> {
	switch (typed) {
		case 'top': {
			return runTop(machine, fact, place);
		}

		case 'web': {
			return runWeb(machine, fact, place);
		}

		case 'keep': {
			return runKeep(machine, fact, place);
		}

		default: {
			return machine.run(fact, place, typed.split(' '));
		}
	}
}

/** Removes text that differs between pools, and messages of dash before it reads the program. */
const comparable = (said: string): string =>
	said.replaceAll(/place-\d+/gv, 'PLACE').replace('sh: 0: getcwd() failed: No such file or directory\n', '');

const isSilent = (fact: Fact): boolean => fact.name.includes('stderr');

const isSame = (fact: Fact, ran: Ran, expected: Ran): boolean =>
	ran.exitCode === expected.exitCode && (isSilent(fact) || comparable(ran.stderr) === comparable(expected.stderr));

/** A Markdown table with a row for each missing fact and a column for each command. */
function tableOf(whole: ReadonlyMap<string, Ran>, table: ReadonlyMap<Fact, ReadonlyMap<string, Ran>>): string {
	const notes = new Map<string, number>();
	const noteOf = (words: string): number => {
		notes.set(words, notes.get(words) ?? notes.size + 1);
		return notes.get(words)!;
	};

	const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
	const typed = whole.keys().toArray();
	const lines = missingFacts.map((fact) =>
		line([
			fact.name,
			...typed.map((words) => {
				const ran = table.get(fact)?.get(words);
				return ran === undefined
					? '?'
					: isSame(fact, ran, whole.get(words)!)
						? '✓'
						: `${ran.exitCode ?? 'killed'} (${noteOf(comparable(ran.stderr).trim().replaceAll(/\r?\n/gv, ' / '))})`;
			}),
		]),
	);
	return [
		line(['missing', ...typed.map((words) => `\`${words}\``)]),
		line(['missing', ...typed].map(() => '---')),
		line(['nothing', ...typed.map((words) => String(whole.get(words)?.exitCode))]),
		...lines,
		'',
		...Array.from(notes, ([words, number]) => `${number}. ${words}`),
		'',
	].join('\n');
}

async function runAll(machine: Machine, fact: Fact): Promise<ReadonlyMap<string, Ran>> {
	const place = machine.makePlace();
	const ran = new Map<string, Ran>();
	for (const typed of commands) {
		ran.set(typed, await runTyped(machine, fact, place, typed));
		if (privateCommands.has(typed)) {
			ran.set(`${typed} (private)`, await machine.run(fact, {...place, pool: noPool}, typed.split(' ')));
		}
	}

	return ran;
}

describe.runIf(canLackFacts())('a machine with missing facts', () => {
	let machine: Machine;
	let whole: ReadonlyMap<string, Ran>;
	const table = new Map<Fact, ReadonlyMap<string, Ran>>();

	beforeAll(async () => {
		machine = createMachine();
		whole = await runAll(machine, wholeMachine);
	});

	afterAll(() => {
		machine.remove();
		process.stdout.write(tableOf(whole, table));
	});

	test.concurrent.each(missingFacts)(
		'runs every command without $name, or reports what is missing',
		{timeout: 600_000},
		async (fact) => {
			const all = await runAll(machine, fact);
			table.set(fact, all);
			const surprises = [...all].flatMap(([typed, ran]) => {
				const {exitCode, stderr} = ran;
				const difference = differences.find((each) => each.fact.test(fact.name) && each.typed.test(typed));
				const isExpected =
					difference === undefined
						? isSame(fact, ran, whole.get(typed)!)
						: exitCode === difference.exitCode && (isSilent(fact) || difference.says.test(stderr));
				const isClear =
					documented.has(exitCode ?? -1) && !/\bbug\b|^ +at /mv.test(stderr) && stderr.split('\n').length <= 5;
				return isExpected && isClear ? [] : [{typed, exitCode, stderr}];
			});
			expect(surprises).toEqual([]);
		},
	);
});
