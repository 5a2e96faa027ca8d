/** `reserve --while-pid`: a process of this account keeps the GPUs for as long as it runs. */
import {endJobLease, findJobLease} from '../core/operations/job-lease.js';
import type {Engine} from '../core/operations/engine.js';
import type {ProcessIdentity} from '../core/model/types.js';
import type {AcquireRequest} from '../core/rules/request/request.js';
import {CanhazgpuError} from '../errors.js';
import {sanitize} from '../format/text/text.js';
import type {App, Interruption, OpenWorld} from '../app/contract.js';
import type {Input} from '../command-line/command.js';
import {processIdOf} from './adopt.js';
import {acquireShown} from './shared/acquire.js';
import {refuseBoth} from './shared/flag-values.js';

type Keeper = {readonly process: ProcessIdentity; readonly name: string};

const checkMs = 1000;

/** Returns the process id. Undefined without `--while-pid`. Throws `usage` for flags that contradict it, and `failed` for an engine such as Slurm. */
export function keeperPidOf(input: Input, engine: Engine | undefined): number | undefined {
	if (!input.has('while-pid')) {
		return undefined;
	}

	refuseBoth(input, 'while-pid', 'duration', 'The GPUs are released when the process ends.');
	refuseBoth(input, 'while-pid', 'keep', 'The GPUs stay reserved until the process ends, even if they are idle.');
	refuseBoth(input, 'while-pid', 'on', 'The process must run on the same host as the GPUs.');
	if (engine !== undefined) {
		throw new CanhazgpuError('failed', 'With Slurm, a process cannot keep GPUs', {
			hint: 'Start the command with canhazgpu run, or reserve for a time with --duration.',
		});
	}

	return processIdOf(input, 'while-pid');
}

/** The id of the initial pid namespace, the same on every Linux machine (PROC_PID_INIT_INO in the kernel). */
const firstNamespace = '4026531836';

/** Throws in a container. If the whole container ends, no process remains that can see the end of the given process. */
function checkVisible({namespace}: ProcessIdentity): void {
	if (namespace !== undefined && namespace !== firstNamespace) {
		throw new CanhazgpuError(
			'failed',
			'A process in a container cannot keep GPUs, because its end cannot be seen from outside',
			{
				hint: 'Nothing was reserved. Start the command with canhazgpu run, or reserve for a time with --duration.',
			},
		);
	}
}

/** Finds the process. Throws `not-found` if there is none, and `not-owner` for a process of another account. */
export async function keeperOf(app: App, world: OpenWorld, pid: number): Promise<Keeper> {
	checkVisible(world.host.self);
	const {inspectProcesses} = world.simulatedProcesses ?? app;
	const facts = (await inspectProcesses([pid])).get(pid);
	if (facts === undefined) {
		throw new CanhazgpuError('not-found', `There is no process ${pid}, or it cannot be seen`, {
			hint: 'Nothing was reserved. In a script, $$ is the process id of its shell.',
		});
	}

	if (!facts.isOwn) {
		const owner = facts.user === undefined ? 'another account' : sanitize(facts.user);
		throw new CanhazgpuError('not-owner', `Process ${pid} belongs to ${owner}`, {
			hint: 'Nothing was reserved. Only a process of your own account can keep GPUs.',
		});
	}

	const {namespace, timeNamespace} = world.host.self;
	return {
		process: {pid, startTicks: facts.startTicks, namespace, timeNamespace},
		name: `process ${pid}${facts.name === undefined ? '' : ` (${sanitize(facts.name)})`}`,
	};
}

const hasEnded = ({host}: OpenWorld, {process}: Keeper): boolean => host.liveness([process])[0] === 'dead';

const ended = ({name}: Keeper): CanhazgpuError =>
	new CanhazgpuError('not-found', `${name.replace(/^p/v, 'P')} has ended`, {hint: 'No GPUs are reserved.'});

type Wait = {
	readonly request: AcquireRequest;
	readonly waitSeconds: number | undefined;
	readonly interruption: Interruption;
};

export async function acquireWhileAlive(
	app: App,
	world: OpenWorld,
	keeper: Keeper,
	{request, waitSeconds, interruption}: Wait,
): ReturnType<typeof acquireShown> {
	const gone = new AbortController();
	const timer = setInterval(() => {
		if (hasEnded(world, keeper)) {
			gone.abort();
		}
	}, checkMs);
	try {
		const answer = await acquireShown(app, world, request, {
			waitSeconds,
			interruption: {...interruption, signal: AbortSignal.any([interruption.signal, gone.signal])},
		});
		if (answer.kind === 'interrupted' && gone.signal.aborted && !interruption.signal.aborted) {
			throw ended(keeper);
		}

		if (answer.kind === 'granted' && hasEnded(world, keeper)) {
			await endJobLease(world, await findJobLease(world, answer.leaseId), 'holder-died');
			throw ended(keeper);
		}

		return answer;
	} finally {
		clearInterval(timer);
	}
}
