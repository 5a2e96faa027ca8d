import type {GpuProvider} from '../core/ports.js';
import type {LeaseType, Observation} from '../core/types.js';
import {simulateGpu} from './simulation.js';
import {singleFlight} from './single-flight.js';

/**
What the simulated box needs to know of a lease.
*/
export type SimulatedLease = {
	readonly index: number;
	/**
	The account whose processes appear.
	*/
	readonly user: string;
	readonly type: LeaseType;
	/**
	The job's, if there is one; else one is made up.
	*/
	readonly pid?: number;
	/**
	Unix seconds. Known, the load grows from here on, and a manual lease falls silent after a while.
	*/
	readonly startTime?: number;
};

type Options = {
	readonly gpuCount: () => Promise<number>;
	readonly leases: () => Promise<readonly SimulatedLease[]>;
	readonly monotonicMs: () => number;
	/**
	Unix seconds; all readings are a function of it, of the seed and of the leases.
	*/
	readonly nowSeconds: () => number;
	readonly seed?: number;
};

/**
A box of GPUs that exist on paper only: for trying the program, and for demonstrations. They show load where the leases are.
*/
export const createSimulatedProvider = ({
	gpuCount,
	leases,
	monotonicMs,
	nowSeconds,
	seed = 1,
}: Options): GpuProvider => {
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
		const current = held.status === 'fulfilled' ? held.value : [];
		return report({
			gpus: Array.from({length: count.value}, (_, index) =>
				simulateGpu({seed, index, seconds, lease: current.find((lease) => lease.index === index)}),
			),
			warnings: held.status === 'rejected' ? [`Simulated without load: ${reasonOf(held)}`] : [],
		});
	};

	return {name: 'fake', simulated: true, count: gpuCount, observe: singleFlight(scan)};
};

const reasonOf = ({reason}: PromiseRejectedResult): string =>
	reason instanceof Error ? reason.message : String(reason);
