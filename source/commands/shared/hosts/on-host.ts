/** Implements `--on`: runs the command on another host by ssh. Only the host itself grants its GPUs, so no GPU is granted twice. */
import process from 'node:process';
import {
	chooseHost,
	type AskedOfHosts,
	type HostAnswer,
	type HostReason,
} from '../../../core/rules/hosts/choose-host.js';
import {idWordsOf} from '../../../core/rules/request/gpu-ids.js';
import type {Wanted} from '../../../core/rules/request/request.js';
import {otherHosts} from '../../../core/model/other-hosts.js';
import {CanhazgpuError} from '../../../errors.js';
import {withoutName} from '../../../format/tables/host-tables.js';
import {longDuration} from '../../../format/text/durations.js';
import {sanitize} from '../../../format/text/text.js';
import type {App, HostRun, Patience} from '../../../app/contract.js';
import type {Command, Input} from '../../../command-line/command.js';
import {globalFlags} from '../../../command-line/flags.js';
import {createBackground} from '../background.js';
import {movedExitCode, queueEntryVariable} from './moving.js';

/** Flags that locate the pool of this host. */
const localFlags = ['redis-host', 'redis-port', 'redis-db', 'store', 'config', 'memory-threshold'];

/** Returns the typed flags except `--on` and those in `leftOut`. Settings are not passed on, because the other host has its own config files. */
export const typedFlags = ({flags}: Command, input: Input, ...leftOut: readonly string[]): readonly string[] =>
	Object.entries({...globalFlags, ...flags})
		.filter(([name]) => name !== 'on' && !leftOut.includes(name))
		.flatMap(([name, {isMultiple}]) => {
			const typed = isMultiple === true ? input.texts(name) : [input.text(name)];
			return (
				typed
					.filter((text) => text !== undefined)
					// Older versions and the Go program do not support ranges of GPUs such as 0-3.
					.map((text) => `--${name}=${name === 'gpu-ids' ? idWordsOf(text).join(',') : text}`)
			);
		});

type ElsewhereOptions = {
	readonly command: Command;
	readonly host: string;
	/** Whether to start the job in the current directory, if the other host has the same directory. */
	readonly keepsDirectory?: boolean;
};

const isOwn = (app: App, host: string): boolean => host === app.host.hostname || host === 'localhost';

type ThereOptions = ElsewhereOptions & {
	readonly entryId?: string;
	/** The remaining time to wait, which replaces the typed time. */
	readonly waitSeconds?: number | undefined;
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

async function runThere(app: App, input: Input, options: ThereOptions): Promise<number> {
	const {command, host, keepsDirectory, entryId, waitSeconds} = options;
	const run = await app.runOnHost(
		{
			host,
			words: [
				command.name,
				...typedFlags(command, input, ...(waitSeconds === undefined ? [] : ['wait'])),
				...(waitSeconds === undefined ? [] : [`--wait=${waitSeconds}s`]),
				...input.words,
			],
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

function refuseLocalFlags(input: Input): void {
	const own = localFlags.find((name) => input.has(name));
	if (own !== undefined) {
		throw new CanhazgpuError('usage', `--${own} cannot be combined with --on, because it applies only to this host`, {
			hint: `Leave out --${own}: the configuration of that host applies.`,
		});
	}
}

const reasonText = (reason: HostReason): string =>
	reason.kind === 'error'
		? sanitize(reason.words)
		: reason.kind === 'over-limit'
			? `your limit there is ${reason.mostGpus} GPU(s)`
			: `it has ${reason.gpuCount} GPU(s), but too few of them fit the request`;

async function choose(app: App, others: readonly string[], wanted: AskedOfHosts): Promise<string> {
	const {askForGpus} = await import('./host-answers.js');
	if (others.length === 0) {
		throw new CanhazgpuError('usage', '--on any needs other hosts to choose from', {
			hint: 'Name them in the setting remote_hosts, such as: remote_hosts: [gpu-box-2, alice@gpu-box-3]',
		});
	}

	const answers: readonly HostAnswer[] = await askForGpus(app, others);
	const choice = chooseHost(wanted, answers);
	if (choice.kind === 'none') {
		const reasons = choice.reasons.map(
			({host, reason}) => `${sanitize(host)}: ${withoutName(reasonText(reason), host)}`,
		);
		const hasAnswer = choice.reasons.some(({reason}) => reason.kind !== 'error');
		throw hasAnswer
			? new CanhazgpuError('impossible', `No host has ${wanted.count} GPU(s) that fit the request`, {
					hint: reasons.join('; '),
				})
			: new CanhazgpuError('store-unreachable', 'No host reported its GPUs', {hint: reasons.join('; ')});
	}

	const {host, freeCount, waitSeconds, unanswered} = choice;
	const when =
		waitSeconds === 0
			? `${freeCount} GPU(s) are free there`
			: `it should be the first with enough free GPUs, ${waitSeconds === undefined ? 'at an unknown time' : `in about ${longDuration(waitSeconds)}`}`;
	app.remark(`canhazgpu: using ${sanitize(host)}: ${when}`);
	const [first] = unanswered;
	if (first !== undefined) {
		const which = unanswered.length === 1 ? '' : `${unanswered.length} hosts that did not answer, such as `;
		app.remark(`canhazgpu: skipped ${which}${sanitize(first.host)}: ${sanitize(withoutName(first.words, first.host))}`);
	}

	return host;
}

type AnywhereOptions = Omit<ElsewhereOptions, 'host'> & {
	readonly wanted: Wanted;
	/** 0 means not to wait. Undefined means to wait as long as necessary. */
	readonly waitSeconds: number | undefined;
};

type Outcome =
	| {readonly isHere: false; readonly exitCode: number}
	/** This host serves the request and may wait for `waitSeconds`. */
	| {readonly isHere: true; readonly waitSeconds: number | undefined};

/** Runs a request on the best host, and moves it to another host that can serve it sooner. Leaves a queue before it joins the next one. */
async function runAnywhere(app: App, input: Input, options: AnywhereOptions): Promise<Outcome> {
	const {command, keepsDirectory, waitSeconds} = options;
	const wanted: AskedOfHosts = {...options.wanted, type: command.name === 'reserve' ? 'manual' : 'run'};
	const others = otherHosts(input.config.get('remote_hosts')!, app.host.hostname);
	const beganMs = app.clock.monotonicMs();
	const leftSeconds = (): number | undefined =>
		waitSeconds === undefined || waitSeconds === 0
			? waitSeconds
			: Math.max(1, Math.round(waitSeconds - (app.clock.monotonicMs() - beganMs) / 1000));
	const background = createBackground(app.remark);
	let host = await choose(app, others, wanted);
	for (let moves = 0; !isOwn(app, host); moves++) {
		if (waitSeconds === 0) {
			return {isHere: false, exitCode: await runThere(app, input, {command, host, keepsDirectory})};
		}

		const {findBetterHost} = await import('./watch-hosts.js');
		const entryId = app.clock.uuid();
		const waiting = new AbortController();
		const watched = {wanted, host, entryId, others, signal: waiting.signal};
		// If this search fails because of a bug, the bug is reported and the request stays on its host.
		const moving = background.attempt(async () => findBetterHost(app, watched));
		let exitCode: number;
		try {
			exitCode = await runThere(app, input, {
				command,
				host,
				keepsDirectory,
				entryId,
				waitSeconds: moves === 0 ? undefined : leftSeconds(),
			});
		} finally {
			waiting.abort();
		}

		const next = await moving;
		if (next === undefined || exitCode !== movedExitCode) {
			return {isHere: false, exitCode};
		}

		app.remark(`canhazgpu: moving to ${sanitize(next)}: enough GPUs are free there now`);
		host = next;
	}

	return {isHere: true, waitSeconds: leftSeconds()};
}

/** Runs a request for GPUs on the host that `--on` names, or for `--on any` on the first host that can serve it. */
export async function acquireElsewhere(
	app: App,
	input: Input,
	{command, wanted, keepsDirectory, waitSeconds}: AnywhereOptions,
): Promise<Outcome> {
	const typed = input.text('on');
	if (typed === undefined || isOwn(app, typed)) {
		return {isHere: true, waitSeconds};
	}

	refuseLocalFlags(input);
	if (typed === 'any' && wanted.need?.mig !== undefined) {
		throw new CanhazgpuError('usage', '--on any does not support MIG instances', {
			hint: 'Name one host. To see the instances of each: canhazgpu status --all',
		});
	}

	return typed === 'any'
		? runAnywhere(app, input, {command, wanted, keepsDirectory, waitSeconds})
		: {isHere: false, exitCode: await runThere(app, input, {command, host: typed, keepsDirectory})};
}
