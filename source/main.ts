/** Finds the command of a command line, runs the command, prints errors, and returns the exit code. */
import process from 'node:process';
import {version} from './app/start-up/version.js';
import {leavesOutput, writeError} from './app/start-up/unopened-output.js';
import {mayScan, startTools, type EarlyRuns} from './app/start-up/early-readings.js';
import {createApp} from './app/app.js';
import {completionCommand, libraryCommand} from './app/names.js';
import {commandNames, findCommand, splitLine, type SplitLine} from './command-line/find-command.js';
import type {Command, Understood} from './command-line/command.js';
import {loadConfig} from './config/config.js';
import {CanhazgpuError, codeOf, isMissingPart, isReaderGone, lostOutput} from './errors.js';
import type {Output} from './format/text/output-columns.js';
import type {Paint} from './format/text/paint.js';
import {sanitize, stackText} from './format/text/text.js';
import {takeInherited} from './host/inherited/inherited.js';

/** The oldest supported Node. Earlier versions cannot open a database of `node:sqlite` by a URL. */
const oldestNode = [22, 15] as const;

function checkNode(): void {
	const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
	if (major < oldestNode[0] || (major === oldestNode[0] && minor < oldestNode[1])) {
		throw new CanhazgpuError(
			'failed',
			`canhazgpu needs Node.js ${oldestNode.join('.')} or newer, but this is ${process.versions.node}`,
			{
				hint: 'Install a newer Node.js (https://nodejs.org), or use the single executable, which needs no Node.js. It is in the archive of a release, and npm run binary builds it.',
			},
		);
	}
}

function printError(error: unknown): number {
	if (error instanceof CanhazgpuError) {
		writeError(`Error: ${sanitize(error.message)}\n`);
		if (error.hint !== undefined) {
			writeError(`${sanitize(error.hint)}\n`);
		}

		return error.exitCode;
	}

	if (isMissingPart(error)) {
		throw error;
	}

	writeError(`Error: this is a bug in canhazgpu\n${stackText(error)}\n`);
	return 1;
}

async function help(outputOf: (() => Output) | undefined, command?: Command): Promise<string> {
	const {columnsFor, mainHelp, commandHelp} = await import('./command-line/help.js');
	const columns = columnsFor(outputOf?.(), process.env);
	return command === undefined ? mainHelp(columns) : commandHelp(command, columns);
}

/** Returns the text to print for a command line without a command, or for `help`. */
async function generalText({name, words: typed, rest}: SplitLine, outputOf?: () => Output): Promise<string> {
	const {parseInput} = await import('./command-line/parse.js');
	const program = {name: name ?? 'canhazgpu', flags: {}, takesWords: true, takesRest: name === undefined};
	const {words, has} = parseInput(program, {words: typed, rest: rest ?? []});
	if (has('version')) {
		return version;
	}

	if (name === undefined && !has('help') && (typed.length > 0 || rest !== undefined)) {
		const {missingCommand} = await import('./command-line/usage-errors.js');
		throw missingCommand(typed, rest);
	}

	if (name === undefined || words.length === 0 || words[0] === 'help') {
		return help(outputOf);
	}

	const {helpOn} = await import('./command-line/topic-help.js');
	const output = outputOf?.();
	return helpOn(words, {isPlain: has('no-color'), output, environment: process.env});
}

/**
Parses a command line and loads the config.

@param outerFile - The config file of the monitor in which this line is typed.
@param outputOf - Returns the stream on which a requested text is printed. Called only for such a text, because it opens stdout.
*/
export async function understand(
	argv: readonly string[],
	outerFile?: string,
	outputOf?: () => Output,
): Promise<Understood> {
	// Loaded only now, because the parser is large and would delay the start of the GPU scan.
	const {parseInput} = await import('./command-line/parse.js');
	const line = splitLine(argv);
	if (line.name === undefined || line.name === 'help') {
		return {text: await generalText(line, outputOf)};
	}

	const command = await findCommand(line.name, line.misplaced);
	const {overrides, ...parsed} = parseInput(command, line);
	if (parsed.has('help')) {
		return {text: await help(outputOf, command)};
	}

	if (parsed.has('version')) {
		return {text: version};
	}

	// If a command has a `--config` of its own, its users set CANHAZGPU_CONFIG instead.
	const file = (Object.hasOwn(command.flags, 'config') ? undefined : parsed.text('config')) ?? outerFile;
	const config = await loadConfig({flags: overrides, environment: process.env, file});
	const grammar = {
		commands: commandNames,
		find: findCommand,
		understand: async (inner: readonly string[]) => understand(inner, file),
	};
	return {command, input: {...parsed, config, grammar}};
}

async function dispatch(argv: readonly string[]): Promise<number> {
	checkNode();
	// Starts the GPU tools before anything else is loaded.
	const early = mayScan(argv, process.env['CANHAZGPU_ENGINE']) ? startTools() : undefined;
	try {
		return await perform(argv, early);
	} finally {
		// Stops the tools, because the command may not have needed them.
		early?.stop();
	}
}

async function perform(argv: readonly string[], early: EarlyRuns | undefined): Promise<number> {
	const understood = await understand(argv, undefined, () => process.stdout);
	if ('text' in understood) {
		openOutput();
		process.stdout.write(`${understood.text}\n`);
		return 0;
	}

	const {command, input} = understood;
	for (const warning of input.config.warnings) {
		writeError(`Warning: ${sanitize(warning)}\n`);
	}

	const paint = leavesOutput(argv) ? undefined : await loadPaint(!input.has('no-color'));
	return command.run(createApp({config: input.config, paint, early, openOutput}), input);
}

async function loadPaint(hasColor: boolean): Promise<Paint> {
	const {createPaint} = await import('./format/text/paint.js');
	return createPaint(hasColor, process.env);
}

/** A description of what the command has done, for the case that its output is lost and the user needs to undo it. */
let doneAnyway: string | undefined;

/** Whether to report nothing. After EIO the terminal is gone, so a report on stderr would not be seen either. */
const isQuiet = (error: Error): boolean => isReaderGone(error) && (doneAnyway === undefined || codeOf(error) === 'EIO');

let isLossReported = false;

/**
Reports that output could not be written, such as to a full disk. After a reservation, the report names the reserved GPUs, and is printed even if only
the reader of stdout has gone. Does nothing if the loss was already reported.

@returns Whether output was lost.
*/
function reportLostOutput(error: Error): boolean {
	if (isQuiet(error)) {
		return false;
	}

	if (isLossReported) {
		return true;
	}

	isLossReported = true;
	printError(lostOutput(error));
	if (doneAnyway !== undefined) {
		writeError(`${doneAnyway}\n`);
	}

	return true;
}

let isOutputOpen = false;

/** Opens stdout. Must be called before anything is printed. */
function openOutput(done?: string): void {
	doneAnyway = done ?? doneAnyway;
	if (isOutputOpen) {
		return;
	}

	isOutputOpen = true;
	// `canhazgpu status | head -1` closes stdout early, which is no error. A terminal that was closed causes EIO.
	process.stdout.on('error', (error: NodeJS.ErrnoException) => {
		const isLost = reportLostOutput(error);
		// eslint-disable-next-line unicorn/no-process-exit -- nothing can be printed anymore
		process.exit(isLost ? 1 : error.code === 'EIO' ? 129 : 0);
	});
}

/** Runs the program and returns its exit code. Throws only if a file of the program is missing. */
export async function main(argv: readonly string[]): Promise<number> {
	takeInherited();
	if (!leavesOutput(argv)) {
		openOutput();
	}

	try {
		if (argv[0] === libraryCommand) {
			const {printScans} = await import('./app/gpus/nvml.js');
			return await printScans(Number(argv[1]));
		}

		if (argv[0] === completionCommand) {
			const {printCompletion} = await import('./command-line/completion/complete.js');
			await printCompletion(argv.slice(1));
			// Exits explicitly, because a connection to an unreachable store would keep the process running.
			process.exit(0); // eslint-disable-line unicorn/no-process-exit
		}

		const exitCode = await dispatch(argv);
		// Lost output is reported at the end, because commands that hold GPUs continue without output.
		const error = isOutputOpen ? process.stdout.errored : null;
		const isLost = error !== null && reportLostOutput(error);
		return exitCode === 0 && isLost ? 1 : exitCode;
	} catch (error) {
		return printError(error);
	}
}
