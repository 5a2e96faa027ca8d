/** `--on`: the same verb on another box, by ssh. That box alone judges who gets its GPUs, so nothing is granted twice. */
import process from 'node:process';
import {chooseHost, type HostAnswer, type HostReason} from '../../../core/rules/hosts/choose-host.js';
import type {Wanted} from '../../../core/rules/allocation/request.js';
import {otherHosts} from '../../../core/model/other-hosts.js';
import {CanhazgpuError} from '../../../errors.js';
import {withoutName} from '../../../format/tables/host-tables.js';
import {longDuration} from '../../../format/text/durations.js';
import {sanitize} from '../../../format/text/text.js';
import type {App} from '../../../app/contract.js';
import type {Command, Input} from '../../../command-line/command.js';
import {globalFlags} from '../../../command-line/flags.js';

/** Flags of every verb that say where the pool of this box is. */
const ownPlaces = ['redis-host', 'redis-port', 'redis-db', 'store', 'config', 'memory-threshold'];

/** What was typed, but for `--on`: the config files of that box say the rest. */
function typedFlags({flags}: Command, input: Input): readonly string[] {
	const words: string[] = [];
	for (const [name, flag] of Object.entries({...globalFlags, ...flags})) {
		if (name === 'on' || !input.has(name)) {
			continue;
		}

		words.push(
			...(flag.value === undefined
				? [`--${name}`]
				: flag.isRepeated === true
					? input.texts(name).map((text) => `--${name}=${text}`)
					: [`--${name}=${input.text(name) ?? ''}`]),
		);
	}

	return words;
}

/** Where the box is asked for, and what it is asked. */
export type ElsewhereOptions = {
	readonly command: Command;
	/** The host that was typed. */
	readonly host: string;
	/** A job starts in the same directory, where that box has it. */
	readonly keepsDirectory?: boolean;
};

const isOwn = (app: App, host: string): boolean => host === app.host.hostname || host === 'localhost';

async function runThere(app: App, input: Input, {command, host, keepsDirectory}: ElsewhereOptions): Promise<number> {
	return app.runOnHost({
		host,
		words: [command.name, ...typedFlags(command, input), ...input.words],
		rest: input.rest,
		directory: keepsDirectory === true ? process.cwd() : undefined,
	});
}

/**
Runs the verb on the host of `--on`.

@returns The exit code there. Undefined: it is this very host, or none was named.
@throws CanhazgpuError `usage` for `any`, and for flags that say where the pool of this box is.
*/
export async function runElsewhere(app: App, input: Input, command: Command): Promise<number | undefined> {
	const host = input.text('on');
	if (host === undefined || isOwn(app, host)) {
		return undefined;
	}

	refuseOwnPlaces(input);
	if (host === 'any') {
		throw new CanhazgpuError('usage', `${command.name} needs the host: --on any is for run and reserve`, {
			hint: 'To see which host it is: canhazgpu status --all',
		});
	}

	return runThere(app, input, {command, host});
}

function refuseOwnPlaces(input: Input): void {
	const own = ownPlaces.find((name) => input.has(name));
	if (own !== undefined) {
		throw new CanhazgpuError('usage', `--${own} is about this host, and --on names another`, {
			hint: `Leave out --${own}: the configuration of that host says it.`,
		});
	}
}

const reasonWords = (reason: HostReason): string =>
	reason.kind === 'error'
		? sanitize(reason.words)
		: `it has ${reason.gpuCount} GPU(s), and not enough of them can serve it`;

async function choose(app: App, input: Input, wanted: Wanted): Promise<string> {
	const {askForGpus} = await import('./host-answers.js');
	const others = otherHosts(input.config.get('remote_hosts')!, app.host.hostname);
	if (others.length === 0) {
		throw new CanhazgpuError('usage', '--on any needs other hosts to choose from', {
			hint: 'Name them in the setting remote_hosts, such as: remote_hosts: [gpu-box-2, alice@gpu-box-3]',
		});
	}

	const answers: readonly HostAnswer[] = await askForGpus(app, others);
	const choice = chooseHost(wanted, answers);
	if (choice.kind === 'none') {
		const reasons = choice.reasons.map(
			({host, reason}) => `${sanitize(host)}: ${withoutName(reasonWords(reason), host)}`,
		);
		throw new CanhazgpuError('impossible', `No host can give ${wanted.count} GPU(s) as asked`, {
			hint: reasons.join('; '),
		});
	}

	const {host, freeCount, waitSeconds} = choice;
	const when =
		waitSeconds === 0
			? `${freeCount} GPU(s) are free there`
			: `it is the first to have enough, ${waitSeconds === undefined ? 'though nobody knows when' : `in about ${longDuration(waitSeconds)}`}`;
	app.remark(`canhazgpu: on ${sanitize(host)}: ${when}`);
	return host;
}

/**
Runs a verb that asks for GPUs on the host of `--on`, or on the one that serves it first.

@returns The exit code there. Undefined: it is this very host, or none was named.
@throws CanhazgpuError `usage` for flags that say where the pool of this box is, `impossible` when no host can ever serve it.
*/
export async function acquireElsewhere(
	app: App,
	input: Input,
	{command, wanted, keepsDirectory}: Omit<ElsewhereOptions, 'host'> & {readonly wanted: Wanted},
): Promise<number | undefined> {
	const typed = input.text('on');
	if (typed === undefined || isOwn(app, typed)) {
		return undefined;
	}

	refuseOwnPlaces(input);
	const host = typed === 'any' ? await choose(app, input, wanted) : typed;
	return isOwn(app, host) ? undefined : runThere(app, input, {command, host, keepsDirectory});
}
