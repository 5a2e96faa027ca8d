import {watchHosts, type HostWatch, type HostWatchOptions} from '../../core/live/host-watch.js';
import {CanhazgpuError} from '../../errors.js';
import {fromCommandRows, type RemoteGpu} from '../../format/hosts/remote-gpu.js';
import {timestamp} from '../../format/text/durations.js';
import {remoteWith, type ShownCommands} from './commands.js';

export type RemoteHosts = HostWatch<readonly RemoteGpu[]>;

export type HostOptions = HostWatchOptions<ReadonlyArray<Readonly<Record<string, unknown>>>> & {
	readonly commands?: ShownCommands;
};

/** Sets the user of a shared GPU to the names of all who share the GPU. Omits their accounts, which the page does not need. */
const withSharers = (gpu: RemoteGpu): RemoteGpu => ({
	...gpu,
	user: gpu.user ?? (gpu.sharers?.length === 0 ? undefined : gpu.sharers?.join(', ')),
	accounts: undefined,
});

/** Computes the ends of a reservation from its remaining time, because the other host's clock may differ from the clock of this machine. */
function withOwnEnds(gpu: RemoteGpu, now: number): RemoteGpu {
	const {remaining_seconds: left, expiry_time: expiry, ends_by: latest} = gpu;
	if (left === undefined) {
		return gpu;
	}

	const end = timestamp(Math.round(now + left));
	return {
		...gpu,
		expiry_time: expiry === undefined ? undefined : end,
		ends_by: latest === undefined ? undefined : end,
	};
}

export const createRemoteHosts = ({ask, commands = 'full', ...options}: HostOptions): RemoteHosts =>
	watchHosts({
		...options,
		async ask(name, signal) {
			const answer = await ask(name, signal);
			const now = Date.now() / 1000;
			const rows = fromCommandRows(answer, now);
			if (rows === undefined) {
				throw new CanhazgpuError('failed', `${name}: its answer is too long to show`);
			}

			return rows.map((row) => remoteWith(withSharers(withOwnEnds(row, now)), commands));
		},
	});

type AnswerJson = {
	readonly age_ms: number;
	readonly gpus?: readonly RemoteGpu[];
	readonly error?: string;
};

/** A host in the event `hosts`. `before` is the last good status of a host that now fails. */
export type HostJson = AnswerJson & {readonly name: string; readonly before?: AnswerJson};

export type HostsJson = {readonly hosts: readonly HostJson[]};
