import type {GrantedGpu, GrantedPart, IsolationLevel} from '../../../core/model/isolation.js';
import {readingOf} from '../../../core/rules/mig/instances.js';
import type {GpuReading, InstanceOfGpu, Observation} from '../../../core/model/types.js';
import {
	isIsolationWish,
	isolationLevelOf,
	isolationWishes,
	poolIsolationOf,
	wishedFence,
	type IsolationWish,
	type PoolIsolation,
} from '../../../core/rules/pool/isolation.js';
import type {PolicyDoubt} from '../../../core/rules/policy/policy.js';
import {CanhazgpuError, quoted} from '../../../errors.js';
import {isolationReason, isolationRemedy, notIsolatedLine} from '../../../format/isolation.js';
import {sanitize} from '../../../format/text/text.js';
import type {OpenWorld} from '../../../app/contract.js';
import type {Flag, Input} from '../../../command-line/command.js';
import type {SettingValue} from '../../../config/schema.js';

export const isolateFlag: Flag = {
	value: 'HOW',
	bare: 'auto',
	summary: 'hide all other GPUs; HOW is auto, require (fail if impossible), off, or a method (bwrap, systemd, cgroup)',
	completes: isolationWishes,
};

export function isolationWishOf(input: Input): IsolationWish | undefined {
	const typed = input.text('isolate');
	if (typed === undefined || isIsolationWish(typed)) {
		return typed;
	}

	throw new CanhazgpuError('usage', `--isolate must be one of ${isolationWishes.join(', ')}, not ${quoted(typed)}`, {
		hint: '--isolate without a value means --isolate=auto. See: canhazgpu help isolation',
	});
}

export type JobIsolation = {
	readonly isIsolated: boolean | undefined;
	readonly entrance: readonly string[];
	/** The UUIDs of the granted GPUs. Undefined if the job also sees GPUs that were not granted. */
	readonly uuids: ReadonlyArray<string | undefined> | undefined;
	readonly remark: string | undefined;
};

const unwanted: JobIsolation = {
	isIsolated: undefined,
	entrance: [],
	uuids: undefined,
	remark: undefined,
};

/** Returns the driver's current ids of an instance. Finds the instance by its UUID, because the ids may have changed since the grant. */
const partOf = (instance: InstanceOfGpu, reading: GpuReading | undefined): readonly GrantedPart[] => {
	const {gpuInstanceId, computeInstanceId} = readingOf(reading, instance) ?? instance;
	return gpuInstanceId === undefined || computeInstanceId === undefined ? [] : [{gpuInstanceId, computeInstanceId}];
};

const grantedGpus = (
	gpus: readonly number[],
	instances: readonly InstanceOfGpu[] | undefined,
	scan: Observation | undefined,
): readonly GrantedGpu[] =>
	gpus.map((index) => {
		const reading = scan?.gpus.find((one) => one.index === index);
		const {pciBusId, uuid} = reading ?? {};
		const parts = instances?.filter(({gpu}) => gpu === index).flatMap((instance) => partOf(instance, reading));
		return {index, pciBusId, uuid, ...(parts !== undefined && {parts})};
	});

const contradiction = ({doubt}: PoolIsolation): CanhazgpuError =>
	doubt === undefined
		? new CanhazgpuError('usage', 'This pool requires isolation, so --isolate=off is not allowed', {
				hint: 'Leave it out. To see what isolation changes for a job: canhazgpu help isolation',
			})
		: new CanhazgpuError(
				'pool-garbage',
				`It is unknown whether this pool requires isolation, so --isolate=off is not allowed: ${doubt.problem}`,
				{hint: doubt.fix},
			);

const doubtText = ({problem}: PolicyDoubt): string => `the policy of this pool cannot be read (${sanitize(problem)})`;

type GrantedParts = {readonly gpus: readonly number[]; readonly instances?: readonly InstanceOfGpu[] | undefined};

const keyOf = ({gpus, instances = []}: GrantedParts): string => JSON.stringify([gpus, instances.map(({uuid}) => uuid)]);

type JobIsolator = {
	/** The given world, changed so that `lastScan` returns its newest scan. */
	readonly world: OpenWorld;
	readonly lastScan: () => Observation | undefined;
	/** Refuses settings that the pool does not allow. Called before the request waits for GPUs. */
	readonly check: () => Promise<void>;
	/** Starts isolation in parallel with other work, and resolves when its helper processes run. Never rejects. */
	readonly begin: (granted: GrantedParts) => Promise<void>;
	/** Throws `failed` if required isolation does not work, and `usage` if the pool requires isolation but the user turned it off. */
	readonly isolate: (granted: GrantedParts, pool: PoolIsolation) => Promise<JobIsolation>;
	/** Removes what isolation created. Called when the job has ended or will not start. Never rejects. */
	readonly close: () => Promise<void>;
};

type Wanted = {readonly wish: IsolationWish | undefined; readonly setting: SettingValue<'run.isolate'> | undefined};

export function createJobIsolator(opened: OpenWorld, {wish, setting}: Wanted): JobIsolator {
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

	const own = isolationLevelOf({wish, setting});
	const isOwnWish = own === 'prefer' || own === 'require';
	const prepared = isOwnWish ? opened.prepareIsolation() : undefined;
	// Prevents an unhandled rejection. The error is handled where the promise is awaited.
	prepared?.catch(() => undefined);
	const start = async ({gpus, instances}: GrantedParts) => {
		const isolateGpus = await (prepared ?? opened.prepareIsolation());
		const granted = grantedGpus(gpus, instances, last);
		return {granted, answering: isolateGpus(granted, wishedFence(wish))};
	};

	const closings: Array<() => Promise<void>> = [];
	const finish = async (started: ReturnType<typeof start>) => {
		const {granted, answering} = await started;
		const answer = await answering;
		if (answer.kind === 'isolated') {
			closings.push(answer.close);
		}

		return {granted, answer};
	};

	let begun: {readonly parts: string; readonly made: ReturnType<typeof finish>} | undefined;

	const levelUnder = (pool: PoolIsolation): IsolationLevel => {
		const level = isolationLevelOf({wish, setting, policy: pool.level});
		if (level === 'contradiction') {
			throw contradiction(pool);
		}

		return level;
	};

	return {
		world,
		lastScan: () => last,
		async check() {
			if (wish === 'off') {
				levelUnder(poolIsolationOf(await opened.store.read()));
			}
		},
		async begin(parts) {
			if (!isOwnWish) {
				return;
			}

			const started = start(parts);
			begun = {parts: keyOf(parts), made: finish(started)};
			begun.made.catch(() => undefined);
			await Promise.allSettled([started]);
		},
		async isolate(parts, pool) {
			const level = levelUnder(pool);
			// If the user asks for this level anyway, an unreadable setting of the pool changes nothing, so it is not mentioned.
			const doubt = own === level ? undefined : pool.doubt;
			if (level === 'off') {
				return unwanted;
			}

			const {granted, answer} = await (begun?.parts === keyOf(parts) ? begun.made : finish(start(parts)));
			if (answer.kind === 'isolated') {
				const {entrance} = answer;
				const remark = doubt && `canhazgpu: the command is isolated, because ${doubtText(doubt)}`;
				return {isIsolated: true, entrance, uuids: granted.map(({uuid}) => uuid), remark};
			}

			if (level === 'require') {
				const reason = isolationReason(answer.problem);
				const remedy = isolationRemedy(answer.problem);
				throw new CanhazgpuError('failed', `The command was not started, because it cannot be isolated: ${reason}`, {
					hint:
						doubt === undefined
							? remedy
							: [`Isolation is required, because ${doubtText(doubt)}.`, `${doubt.fix}.`, remedy]
									.filter(Boolean)
									.join(' '),
				});
			}

			return {...unwanted, isIsolated: false, remark: `canhazgpu: ${notIsolatedLine(answer.problem)}`};
		},
		async close() {
			await Promise.all(closings.splice(0).map(async (close) => close()));
		},
	};
}
