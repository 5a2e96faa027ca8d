/** Simulated processes that can be inspected, adopted and signaled, without an effect on real processes. */
import type {Host} from '../../core/model/ports.js';
import type {FactsOfProcesses, GpuProcess, GpuReading, ProcessIdentity} from '../../core/model/types.js';
import {isSimulatedPid} from './scenario.js';

type Identity = Pick<GpuProcess, 'pid' | 'startTicks'>;

export type SimulatedProcesses = {
	/** Remembers the processes of a scan. If the processes of a GPU are unknown, keeps its earlier ones. */
	readonly see: (gpus: readonly GpuReading[]) => void;
	readonly hasEnded: (process: Identity) => boolean;
	readonly inspect: (pids: readonly number[]) => Promise<FactsOfProcesses>;
	/** Signals a simulated process. Every signal ends the process at once. */
	readonly signal: (process: ProcessIdentity) => 'sent' | 'gone' | 'not-yours';
	/** Returns a host that also knows the simulated processes. */
	readonly hostOver: (host: Host) => Host;
};

const keyOf = ({pid, startTicks}: Identity): string => `${pid}:${startTicks}`;

/** Creates the simulated processes. Processes of `account` belong to the user. */
export function createSimulatedProcesses(account: string): SimulatedProcesses {
	const byGpu = new Map<number, readonly GpuProcess[]>();
	const ended = new Set<string>();
	const running = (): readonly GpuProcess[] =>
		byGpu
			.values()
			.toArray()
			.flat()
			.filter((process) => !ended.has(keyOf(process)));

	const find = ({pid, startTicks}: Identity): GpuProcess | undefined =>
		running().find((process) => process.pid === pid && (startTicks ?? process.startTicks) === process.startTicks);

	const isOurs = ({pid, namespace}: ProcessIdentity, host: Host): boolean =>
		isSimulatedPid(pid) && (namespace === undefined || namespace === host.self.namespace);

	return {
		see(gpus) {
			for (const {index, processes} of gpus) {
				if (processes !== undefined) {
					byGpu.set(index, processes);
				}
			}
		},
		hasEnded: (process) => ended.has(keyOf(process)),
		inspect: async (pids) =>
			new Map(
				running()
					.filter(({pid}) => pids.includes(pid))
					.map(({pid, startTicks = 0, user, name, commandLine}) => [
						pid,
						{pid, startTicks, isOwn: user === account, user, name, commandLine},
					]),
			),
		signal(identity) {
			const process = find(identity);
			if (process === undefined) {
				return 'gone';
			}

			if (process.user !== account) {
				return 'not-yours';
			}

			ended.add(keyOf(process));
			return 'sent';
		},
		hostOver: (host) => ({
			...host,
			liveness: (identities) =>
				identities.map((identity) =>
					isOurs(identity, host) ? (find(identity) === undefined ? 'dead' : 'alive') : host.liveness([identity])[0]!,
				),
			orphansOf: (dead) => (isOurs(dead, host) ? 'dead' : host.orphansOf(dead)),
		}),
	};
}
