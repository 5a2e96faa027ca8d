/** Isolating the job of `run`: whether that is wanted, and what happens where it does not work. */
import type {GrantedGpu, IsolationLevel} from '../../core/model/isolation.js';
import type {Observation} from '../../core/model/types.js';
import {
	isIsolationWish,
	isolationLevelOf,
	isolationWishes,
	type IsolationWish,
} from '../../core/rules/pool/isolation.js';
import {policyOf, type Policy} from '../../core/rules/policy/policy.js';
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
function isolationWishOf(input: Input): IsolationWish | undefined {
	const typed = input.text('isolate');
	if (typed === undefined || isIsolationWish(typed)) {
		return typed;
	}

	throw new CanhazgpuError('usage', `--isolate must be one of ${isolationWishes.join(', ')}, not ${quoted(typed)}`, {
		hint: 'Alone, --isolate is --isolate=auto. See: canhazgpu help isolation',
	});
}

/** @throws CanhazgpuError `usage`, before anything is opened. */
export function checkIsolationWish(input: Input): void {
	isolationWishOf(input);
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

const contradiction = (): CanhazgpuError =>
	new CanhazgpuError('usage', 'This pool requires isolation: --isolate=off is not possible', {
		hint: 'Leave it out. What isolation changes for a job: canhazgpu help isolation',
	});

export type JobIsolator = {
	/** The same world, of which the isolator remembers the last scan. */
	readonly world: OpenWorld;
	/**
	Refuses early what the pool does not allow.

	@throws CanhazgpuError `usage`.
	*/
	readonly check: () => Promise<void>;
	/**
	@param policy - What the pool says as the job starts.
	@throws CanhazgpuError `failed` where isolation is required and does not work, `usage` where it is required and turned off.
	*/
	readonly isolate: (gpus: readonly number[], policy: Policy) => Promise<JobIsolation>;
};

/** @param input - Its flag and the user's config say what the user wants. */
export function createJobIsolator(opened: OpenWorld, input: Input): JobIsolator {
	const wish = isolationWishOf(input);
	const setting = input.config.get('run.isolate');
	const {gpus: provider} = opened;
	let last: Observation | undefined;
	const world: OpenWorld = {
		...opened,
		gpus: {
			...provider,
			async observe() {
				last = await provider.observe();
				return last;
			},
		},
	};

	const levelUnder = ({isolate: policy}: Policy): IsolationLevel => {
		const level = isolationLevelOf({wish, setting, policy});
		if (level === 'contradiction') {
			throw contradiction();
		}

		return level;
	};

	return {
		world,
		async check() {
			if (wish === 'off') {
				levelUnder(policyOf(await opened.store.read()));
			}
		},
		async isolate(gpus, policy) {
			const level = levelUnder(policy);
			if (level === 'off') {
				return unwanted;
			}

			const isolate = await opened.prepareIsolation();
			const granted = grantedGpus(gpus, last);
			const answer = await isolate(granted);
			if (answer.kind === 'isolated') {
				const {entrance, close} = answer;
				return {isIsolated: true, entrance, uuids: granted.map(({uuid}) => uuid), remark: undefined, close};
			}

			if (level === 'require') {
				const reason = isolationReason(answer.problem);
				throw new CanhazgpuError('failed', `The command was not started, because it cannot be isolated: ${reason}`, {
					hint: isolationRemedy(answer.problem),
				});
			}

			return {...unwanted, isIsolated: false, remark: `canhazgpu: ${notIsolatedLine(answer.problem)}`};
		},
	};
}
