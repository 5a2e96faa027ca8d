import {watchHosts, type HostWatch, type HostWatchOptions} from '../../core/live/host-watch.js';
import {CanhazgpuError} from '../../errors.js';
import {fromCommandRows, type RemoteGpu} from '../../format/hosts/remote-gpu.js';
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

export const createRemoteHosts = ({ask, commands = 'full', ...options}: HostOptions): RemoteHosts =>
	watchHosts({
		...options,
		async ask(name, signal) {
			const rows = fromCommandRows(await ask(name, signal), Date.now() / 1000);
			if (rows === undefined) {
				throw new CanhazgpuError('failed', `${name}: its answer is too long to show`);
			}

			return rows.map((row) => remoteWith(withSharers(row), commands));
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
