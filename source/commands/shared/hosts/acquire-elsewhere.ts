/** Runs `run` and `reserve` on another host: the one that `--on` names, or with `--on any` the host that can serve the request first. */
import {otherHosts} from '../../../core/model/other-hosts.js';
import {
	chooseHost,
	type AskedOfHosts,
	type HostAnswer,
	type HostReason,
} from '../../../core/rules/hosts/choose-host.js';
import type {Wanted} from '../../../core/rules/request/request.js';
import {CanhazgpuError} from '../../../errors.js';
import {startText} from '../../../format/jobs.js';
import {withoutName} from '../../../format/tables/host-tables.js';
import {longDuration, typedDuration} from '../../../format/text/durations.js';
import {sanitize} from '../../../format/text/text.js';
import type {App} from '../../../app/contract.js';
import type {Input} from '../../../command-line/command.js';
import {createBackground} from '../background.js';
import {untilInterrupted} from './ask-hosts.js';
import {movedExitCode} from './moving.js';
import {isOwn, refuseLocalFlags, runThere, type ElsewhereOptions} from './on-host.js';

const reasonText = (reason: HostReason): string =>
	reason.kind === 'error'
		? sanitize(reason.words)
		: reason.kind === 'over-limit'
			? `your limit there is ${reason.mostGpus} GPU(s)`
			: reason.kind === 'too-long'
				? `you can ask for at most ${typedDuration(reason.mostSeconds)} there`
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
	/** When the request may start at the earliest, in seconds since the epoch. */
	readonly begin?: number | undefined;
};

type Outcome =
	| {readonly isHere: false; readonly exitCode: number}
	/** This host serves the request and may wait for `waitSeconds`. */
	| {readonly isHere: true; readonly waitSeconds: number | undefined};

/** Flags for things that not every host offers. Only the host itself knows whether it does. */
const specialFlags = ['keep', 'cuda', 'mps'] as const;

function askedOf({command: {name}, wanted}: AnywhereOptions, input: Input): AskedOfHosts {
	const isReservation = name === 'reserve';
	const [flag, setting] = isReservation
		? (['duration', 'reserve.duration'] as const)
		: (['timeout', 'run.timeout'] as const);
	return {
		...wanted,
		type: isReservation ? 'manual' : 'run',
		// Each host uses its own default if the flag is absent.
		seconds: input.has(flag) ? input.config.get(setting) : undefined,
		isSpecial: specialFlags.some((special) => input.has(special)) || input.text('isolate') === 'require',
	};
}

/** Returns the flags that make another host read the same request from its own config files, except those that were typed. */
function requestFlags({count, ids, need = {}}: Wanted, input: Input): readonly string[] {
	const {minMemoryMiB, models, minCompute, sameModel, nvlink} = need;
	const texts = {
		gpus: String(count),
		'gpu-ids': ids?.join(','),
		'min-memory': minMemoryMiB === undefined ? undefined : `${minMemoryMiB}Mi`,
		model: models?.join(','),
		'min-compute': minCompute,
		'same-model': sameModel === true ? 'true' : undefined,
		nvlink: nvlink === true ? 'true' : undefined,
	};
	return Object.entries(texts).flatMap(([name, text]) =>
		text === undefined || input.has(name) ? [] : [`--${name}=${text}`],
	);
}

/** The longest single sleep before a start time. After it, the clock is read again, because the clock may have been set in the meantime. */
const longestSleepMs = 30_000;

/** Waits until a time, in seconds since the epoch. Returns the exit code: 0, or that of a signal. */
async function awaitBegin(app: App, begin: number): Promise<number> {
	const leftMs = (): number => begin * 1000 - Date.now();
	app.progress(`canhazgpu: ${startText({kind: 'at', time: begin}, Date.now() / 1000)}`);
	return untilInterrupted(app, async (signal) => {
		while (leftMs() > 0) {
			await app.clock.sleep(Math.min(longestSleepMs, leftMs()), signal);
		}
	});
}

/** Runs a request on the best host, and moves it to another host that can serve it sooner. Leaves a queue before it joins the next one. */
async function runAnywhere(app: App, input: Input, options: AnywhereOptions): Promise<Outcome> {
	const {command, keepsDirectory, waitSeconds, begin} = options;
	const wanted = askedOf(options, input);
	const others = otherHosts(input.config.get('remote_hosts')!, app.host.hostname);
	if (begin !== undefined && begin * 1000 > Date.now()) {
		// Fails now if no host can ever serve the request.
		await choose({...app, remark: () => undefined}, others, wanted);
		const exitCode = await awaitBegin(app, begin);
		if (exitCode !== 0) {
			return {isHere: false, exitCode};
		}
	}

	const beganMs = app.clock.monotonicMs();
	const leftSeconds = (): number | undefined =>
		waitSeconds === undefined || waitSeconds === 0
			? waitSeconds
			: Math.max(1, Math.round(waitSeconds - (app.clock.monotonicMs() - beganMs) / 1000));
	const run = async (host: string, entryId?: string): Promise<number> => {
		const left = leftSeconds();
		const waiting = left === undefined ? [] : [left === 0 ? '--nonblock' : `--wait=${left}s`];
		return runThere(app, input, {
			command,
			host,
			keepsDirectory,
			entryId,
			leftOut: ['begin', ...(left === undefined ? [] : ['nonblock', 'wait'])],
			added: [...requestFlags(wanted, input), ...waiting],
		});
	};

	const background = createBackground(app.remark);
	let host = await choose(app, others, wanted);
	while (!isOwn(app, host)) {
		if (waitSeconds === 0) {
			return {isHere: false, exitCode: await run(host)};
		}

		const {findBetterHost} = await import('./watch-hosts.js');
		const entryId = app.clock.uuid();
		const waiting = new AbortController();
		const watched = {wanted, host, entryId, others, signal: waiting.signal};
		// If this search fails because of a bug, the bug is reported and the request stays on its host.
		const moving = background.attempt(async () => findBetterHost(app, watched));
		let exitCode: number;
		try {
			exitCode = await run(host, entryId);
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

function refuseParts({need}: Wanted): void {
	if (need?.mig !== undefined) {
		throw new CanhazgpuError('usage', '--on any does not support MIG instances', {
			hint: 'Name one host. To see the instances of each: canhazgpu status --all',
		});
	}

	if (need?.shareMiB !== undefined) {
		// The status of a host does not show whether its policy allows shares.
		throw new CanhazgpuError('usage', '--on any cannot be combined with --share', {
			hint: 'Name one host. To see the shares on each: canhazgpu status --all',
		});
	}
}

/** Runs a request for GPUs on the host that `--on` names, or for `--on any` on the first host that can serve it. */
export async function acquireElsewhere(app: App, input: Input, options: AnywhereOptions): Promise<Outcome> {
	const {command, wanted, keepsDirectory, waitSeconds} = options;
	const typed = input.text('on');
	if (typed === undefined || isOwn(app, typed)) {
		return {isHere: true, waitSeconds};
	}

	refuseLocalFlags(input);
	if (typed !== 'any') {
		return {isHere: false, exitCode: await runThere(app, input, {command, host: typed, keepsDirectory})};
	}

	refuseParts(wanted);
	return runAnywhere(app, input, options);
}
