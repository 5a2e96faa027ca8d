/** Isolating the job of `run`: whether that is wanted, and what happens where it does not work. */
import type {GrantedGpu, Isolate, IsolationLevel} from '../../core/model/isolation.js';
import type {Observation} from '../../core/model/types.js';
import {
	isIsolationWish,
	isolationLevelOf,
	isolationWishes,
	type IsolationWish,
} from '../../core/rules/pool/isolation.js';
import {CanhazgpuError, quoted} from '../../errors.js';
import {isolationReason, isolationRemedy, notIsolatedLine} from '../../format/isolation.js';
import type {OpenWorld} from '../../app/contract.js';
import type {Flag, Input} from '../../command-line/command.js';

export const isolateFlag: Flag = {
	value: 'HOW',
	bare: 'auto',
	summary: 'let the command open no other GPU: auto, require (or do not start it), off',
	completes: isolationWishes,
};

/** @throws CanhazgpuError `usage` naming what is possible. */
export function isolationWishOf(input: Input): IsolationWish | undefined {
	const typed = input.text('isolate');
	if (typed === undefined || isIsolationWish(typed)) {
		return typed;
	}

	throw new CanhazgpuError('usage', `--isolate must be one of ${isolationWishes.join(', ')}, not ${quoted(typed)}`, {
		hint: 'Alone, --isolate is --isolate=auto. See: canhazgpu help isolation',
	});
}

/** How strictly the job is to be isolated. */
export function isolationLevelFor(input: Input): IsolationLevel {
	const level = isolationLevelOf({wish: isolationWishOf(input), setting: input.config.get('run.isolate')});
	if (level === 'contradiction') {
		throw new CanhazgpuError('usage', 'This pool requires isolation: --isolate=off is not possible', {
			hint: 'Leave it out. What isolation changes for a job: canhazgpu help isolation',
		});
	}

	return level;
}

/** What became of it. */
export type JobIsolation = {
	/** Undefined where it was not wanted. */
	readonly isIsolated: boolean | undefined;
	readonly entrance: readonly string[];
	/** Of the GPUs that were granted; undefined where the job sees the others, too. */
	readonly uuids: ReadonlyArray<string | undefined> | undefined;
	/** What the user must know. */
	readonly remark: string | undefined;
	/** To be called when the job has ended. */
	readonly close: () => void;
};

export type JobIsolator = {
	/** The same world, of which the isolator remembers the last scan. */
	readonly world: OpenWorld;
	/**
	@throws CanhazgpuError `failed` where isolation is required and does not work.
	*/
	readonly isolate: (gpus: readonly number[]) => Promise<JobIsolation>;
};

const unwanted: JobIsolation = {
	isIsolated: undefined,
	entrance: [],
	uuids: undefined,
	remark: undefined,
	close() {
		// Nothing was opened.
	},
};

const grantedGpus = (gpus: readonly number[], scan: Observation | undefined): readonly GrantedGpu[] =>
	gpus.map((index) => {
		const {pciBusId, uuid} = scan?.gpus.find((reading) => reading.index === index) ?? {};
		return {index, pciBusId, uuid};
	});

async function isolateJob(
	isolate: Isolate,
	granted: readonly GrantedGpu[],
	isRequired: boolean,
): Promise<JobIsolation> {
	const answer = await isolate(granted);
	if (answer.kind === 'isolated') {
		const {entrance, close} = answer;
		return {isIsolated: true, entrance, uuids: granted.map(({uuid}) => uuid), remark: undefined, close};
	}

	if (isRequired) {
		const reason = isolationReason(answer.problem);
		throw new CanhazgpuError('failed', `The command was not started, because it cannot be isolated: ${reason}`, {
			hint: isolationRemedy(answer.problem),
		});
	}

	return {...unwanted, isIsolated: false, remark: `canhazgpu: ${notIsolatedLine(answer.problem)}`};
}

/** Loads all that it needs: files of the program may be gone when the waiting is over. */
export async function createJobIsolator(world: OpenWorld, level: IsolationLevel): Promise<JobIsolator> {
	if (level === 'off') {
		return {world, isolate: async () => unwanted};
	}

	const isolate = await world.prepareIsolation();
	const {gpus: provider} = world;
	let last: Observation | undefined;
	return {
		world: {
			...world,
			gpus: {
				...provider,
				async observe() {
					last = await provider.observe();
					return last;
				},
			},
		},
		isolate: async (gpus) => isolateJob(isolate, grantedGpus(gpus, last), level === 'require'),
	};
}
