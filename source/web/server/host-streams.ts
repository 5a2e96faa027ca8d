import type {KnownHost} from '../../core/live/host-watch.js';
import type {HostJson, HostsJson, RemoteHosts} from '../api/hosts.js';
import {apiJson} from '../api/json.js';
import type {RemoteGpu} from '../../format/hosts/remote-gpu.js';

type Known = KnownHost<readonly RemoteGpu[]>;

type HostStreams<Page> = {
	/** Adds a page. The returned function removes it. */
	readonly open: (page: Page) => () => void;
	readonly close: () => void;
};

const dated = ({answer, answeredMs}: Pick<Known, 'answer' | 'answeredMs'>, nowMs: number) => ({
	age_ms: Math.max(0, Math.round(nowMs - answeredMs)),
	...('error' in answer ? {error: answer.error} : {gpus: answer.status}),
});

const hostJson = (host: Known, nowMs: number): HostJson => ({
	name: host.name,
	...dated(host, nowMs),
	before: host.before && dated(host.before, nowMs),
});

/** Sends the answers of other hosts to pages. `send` sends a message to several pages, so that each message is encoded only once. */
export function createHostStreams<Page>(
	hosts: Pick<RemoteHosts, 'known' | 'subscribe'>,
	monotonicMs: () => number,
	send: (pages: Iterable<Page>, json: string) => void,
): HostStreams<Page> {
	const pages = new Set<Page>();
	let unsubscribe: (() => void) | undefined;

	const sendHosts = (to: Iterable<Page>, known: readonly Known[]): void => {
		const data: HostsJson = {hosts: known.map((host) => hostJson(host, monotonicMs()))};
		send(to, apiJson(data));
	};

	return {
		open(page) {
			pages.add(page);
			sendHosts([page], hosts.known());
			unsubscribe ??= hosts.subscribe((host) => {
				sendHosts(pages, [host]);
			});
			return () => {
				pages.delete(page);
				if (pages.size > 0) {
					return;
				}

				unsubscribe?.();
				unsubscribe = undefined;
			};
		},
		close() {
			unsubscribe?.();
			pages.clear();
		},
	};
}
