import type {GpuProvider} from '../../core/model/ports.js';
import type {GpuReading, Observation} from '../../core/model/types.js';
import {singleFlight} from '../tool/single-flight.js';
import {isNow, type Scenario, sceneOf} from './scenario.js';
import {simulateGpu, type SimulatedLease} from './simulation.js';

type Options = {
	readonly gpuCount: () => Promise<number>;
	readonly leases: () => Promise<readonly SimulatedLease[]>;
	readonly monotonicMs: () => number;
	/**
	Unix seconds; all readings are a function of it, of the seed and of the leases.
	*/
	readonly nowSeconds: () => number;
	readonly seed?: number;
	readonly scenario?: Scenario;
	/**
	When the scenario began, in Unix seconds.
	*/
	readonly startedAtSeconds?: number;
};

/**
A box of GPUs that exist on paper only: for trying the program, and for demonstrations. They show load where the leases are.
*/
export const createSimulatedProvider = ({
	gpuCount,
	leases,
	monotonicMs,
	nowSeconds,
	scenario = {},
	seed = scenario.seed ?? 1,
	startedAtSeconds = 0,
}: Options): GpuProvider => {
	const warm = createThermals();

	const report = (seen: Pick<Observation, 'gpus' | 'failure' | 'warnings'>): Observation => ({
		provider: 'fake',
		simulated: true,
		takenAtMs: monotonicMs(),
		...seen,
	});

	const scan = async (): Promise<Observation> => {
		const [count, held] = await Promise.allSettled([gpuCount(), leases()]);
		if (count.status === 'rejected') {
			return report({
				gpus: [],
				failure: {message: `The simulated GPUs cannot be counted: ${reasonOf(count)}`},
				warnings: [],
			});
		}

		const seconds = nowSeconds();
		const elapsedSeconds = seconds - startedAtSeconds;
		const outage = scenario.scans?.find((span) => isNow(span, elapsedSeconds));
		if (outage !== undefined) {
			return report({gpus: [], failure: {message: outage.failure}, warnings: []});
		}

		const current = held.status === 'fulfilled' ? held.value : [];
		const commandOf = (account: string) => scenario.people?.find(({user}) => user === account)?.command;
		const gpus = Array.from({length: count.value}, (_, index) => {
			const lease = current.find((one) => one.index === index);
			return simulateGpu({
				seed,
				index,
				seconds,
				lease: lease && {...lease, command: lease.command ?? commandOf(lease.user)},
				scene: sceneOf(scenario, index, elapsedSeconds),
				model: scenario.model,
				memoryTotalMiB: scenario.memory,
			});
		});
		return report({
			gpus: warm(gpus, seconds),
			warnings: held.status === 'rejected' ? [`Simulated without load: ${reasonOf(held)}`] : [],
		});
	};

	return {name: 'fake', simulated: true, count: gpuCount, observe: singleFlight(scan)};
};

const reasonOf = ({reason}: PromiseRejectedResult): string =>
	reason instanceof Error ? reason.message : String(reason);

/**
In seconds: how long metal takes to warm up or cool down by two thirds.
*/
const inertiaSeconds = 12;

/**
Lets temperatures follow the work slowly, as they do. Who looks once sees where they tend to.
*/
const createThermals = () => {
	let earlier: ReadonlyMap<number, number> = new Map();
	let earlierSeconds = 0;

	return (gpus: readonly GpuReading[], seconds: number): readonly GpuReading[] => {
		const share = 1 - Math.exp(-Math.max(0, seconds - earlierSeconds) / inertiaSeconds);
		earlier = new Map(
			gpus.flatMap(({index, temperatureCelsius: target}) => {
				const from = earlier.get(index) ?? target;
				return target === undefined || from === undefined ? [] : [[index, from + (target - from) * share] as const];
			}),
		);
		earlierSeconds = seconds;
		return gpus.map((gpu) => {
			const celsius = earlier.get(gpu.index);
			return celsius === undefined ? gpu : {...gpu, temperatureCelsius: Math.round(celsius)};
		});
	};
};
