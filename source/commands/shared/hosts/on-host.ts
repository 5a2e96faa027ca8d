/** Implements `--on`: runs the command on another host by ssh. Only the host itself grants its GPUs, so no GPU is granted twice. */
import process from 'node:process';
import {secondsOf} from '../../../core/rules/leases/durations.js';
import {idWordsOf} from '../../../core/rules/request/gpu-ids.js';
import {CanhazgpuError} from '../../../errors.js';
import {timestamp} from '../../../format/text/durations.js';
import {sanitize} from '../../../format/text/text.js';
import type {App, HostRun, Patience} from '../../../app/contract.js';
import type {Command, Input} from '../../../command-line/command.js';
import {globalFlags} from '../../../command-line/flags.js';
import {parseTimeOfDay} from '../time-of-day.js';
import {queueEntryVariable} from './moving.js';

/** Flags that locate the pool of this host. */
const localFlags = ['redis-host', 'redis-port', 'redis-db', 'store', 'config', 'memory-threshold'];

const hasTime = (name: string): name is 'begin' | 'until' => name === 'begin' || name === 'until';

/** Returns the value of a flag in the form that the other host understands as this host does. */
function textElsewhere(name: string, text: string): string {
	if (name === 'gpu-ids') {
		// Older versions and the Go program do not support ranges of GPUs such as 0-3.
		return idWordsOf(text).join(',');
	}

	// The other host can be in another time zone.
	return hasTime(name) && secondsOf(text) === undefined ? timestamp(parseTimeOfDay(text, {flag: `--${name}`})) : text;
}

/** Returns the typed flags except `--on` and those in `leftOut`. Settings are not passed on, because the other host has its own config files. */
export const typedFlags = ({flags}: Command, input: Input, ...leftOut: readonly string[]): readonly string[] =>
	Object.entries({...globalFlags, ...flags})
		.filter(([name]) => name !== 'on' && !leftOut.includes(name))
		.flatMap(([name, {isMultiple}]) => {
			const typed = isMultiple === true ? input.texts(name) : [input.text(name)];
			return typed.filter((text) => text !== undefined).map((text) => `--${name}=${textElsewhere(name, text)}`);
		});

export type ElsewhereOptions = {
	readonly command: Command;
	readonly host: string;
	/** Whether to start the job in the current directory, if the other host has the same directory. */
	readonly keepsDirectory?: boolean;
};

export const isOwn = (app: App, host: string): boolean => host === app.host.hostname || host === 'localhost';

type ThereOptions = ElsewhereOptions & {
	readonly entryId?: string | undefined;
	/** Typed flags that are not passed on. */
	readonly leftOut?: readonly string[];
	/** Words that are passed on in addition to the typed flags. */
	readonly added?: readonly string[];
};

function ownDirectory(): string | undefined {
	try {
		return process.cwd();
	} catch {
		return undefined;
	}
}

const connectionFailure = 255;

/** Time in ms after which a connection without a user at the terminal is given up. No login takes longer. */
const connectMs = 30_000;
const nonblockConnectMs = 10_000;
/** Default of `secondsElsewhere`. */
const shortSeconds = 30;

/** Returns how long the host may take. At a terminal, the user decides how long to wait, except with --nonblock. */
function patienceOf(app: App, input: Input, {takesRest, secondsElsewhere = shortSeconds}: Command): Patience {
	const isNonblock = input.has('nonblock');
	// With --nonblock, only a job can take long.
	const seconds = isNonblock && takesRest !== true ? shortSeconds : secondsElsewhere;
	return {
		connectMs: isNonblock ? nonblockConnectMs : app.isTerminal ? undefined : connectMs,
		commandMs: seconds === 'unlimited' ? undefined : seconds * 1000,
	};
}

function remarkFailure(app: App, {hasAnswered, problem}: HostRun, host: string, command: Command): void {
	const ask = `canhazgpu status --remote ${host}`;
	if (problem !== undefined) {
		app.remark(`Error: ${problem}\nTo see the state of that host: ${ask}`);
		return;
	}

	const orCommand = command.takesRest === true ? ', or the command ended with exit code 255' : '';
	app.remark(
		hasAnswered === true
			? `canhazgpu: the connection to ${host} was lost${orCommand}. The command may still be running there. To check: ${ask}`
			: command.takesRest === true
				? `canhazgpu: ${host} was not reached, the connection ended, or the command ended with exit code 255. To check whether the host answers: ${ask}`
				: `canhazgpu: ${host} was not reached, or the connection ended. To see why: ${ask}`,
	);
}

/** Runs the command on a host. Returns its exit code, or 255 if ssh fails. */
export async function runThere(app: App, input: Input, options: ThereOptions): Promise<number> {
	const {command, host, keepsDirectory, entryId, leftOut = [], added = []} = options;
	const run = await app.runOnHost(
		{
			host,
			words: [command.name, ...typedFlags(command, input, ...leftOut), ...added, ...input.words],
			rest: input.rest,
			directory: keepsDirectory === true ? ownDirectory() : undefined,
			environment: entryId === undefined ? {} : {[queueEntryVariable]: entryId},
		},
		patienceOf(app, input, command),
	);
	const {exitCode} = run;
	if (exitCode === connectionFailure) {
		remarkFailure(app, run, sanitize(host), command);
	}

	if (exitCode === 0 && command.name === 'reserve' && !input.has('short')) {
		// The other host's output does not say which host it is about.
		app.remark(`canhazgpu: these GPUs are on ${sanitize(host)}, so use them there: ssh ${sanitize(host)}`);
	}

	const hasSubmitted = exitCode === 0 && input.has('detach') && !input.has('json') && !input.has('quiet');
	const hasFailedJob = command.name === 'wait' && exitCode !== 0 && exitCode !== connectionFailure;
	if (hasSubmitted || hasFailedJob) {
		// The other host's output suggests commands without --on, which would use a job of this host with the same id.
		const name = sanitize(host);
		app.remark(`canhazgpu: commands for jobs on ${name} need --on ${name}, such as: canhazgpu logs --on ${name} -f ID`);
	}

	return exitCode;
}

export async function runElsewhere(app: App, input: Input, command: Command): Promise<number | undefined> {
	const host = input.text('on');
	if (host === undefined || isOwn(app, host)) {
		return undefined;
	}

	if ((await app.foreignEngine()) !== undefined) {
		throw new CanhazgpuError('usage', `${command.name} covers the whole cluster, but --on names one host`, {
			hint: 'Leave out --on.',
		});
	}

	refuseLocalFlags(input);
	if (host === 'any') {
		throw new CanhazgpuError(
			'usage',
			`${command.name} needs the name of a host: --on any works only with run and reserve`,
			{
				hint: 'To compare the hosts: canhazgpu status --all',
			},
		);
	}

	return runThere(app, input, {command, host});
}

export function refuseLocalFlags(input: Input): void {
	const own = localFlags.find((name) => input.has(name));
	if (own !== undefined) {
		throw new CanhazgpuError('usage', `--${own} cannot be combined with --on, because it applies only to this host`, {
			hint: `Leave out --${own}: the configuration of that host applies.`,
		});
	}
}
