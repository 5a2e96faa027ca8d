/**
`/api/events`: one feed for all who listen. Each change is encoded once, whoever cannot keep up is dropped and comes back by itself.
*/
import type {ServerResponse} from 'node:http';
import type {RemoteHosts} from '../api/hosts.js';
import {createEncoder, type About} from '../api/live-json.js';
import type {LiveView} from '../live/live-view.js';
import {createHostStreams} from './host-streams.js';
import {callersOf, type Connection} from './callers.js';

export type EventStreams = {
	/**
	Sends everything, then every change. Where there are too many already, the oldest of whoever has most gives way. False when that would be
	the one who asks.
	*/
	readonly open: (outgoing: ServerResponse, options: {readonly withHosts: boolean}) => boolean;
	readonly count: () => number;
	readonly close: () => void;
};

export type StreamLimits = {
	readonly mostStreams?: number;
	/** Who has so much unread is dropped. */
	readonly mostUnreadBytes?: number;
	readonly beatMs?: number;
};

/** A browser whose connection broke tries again after this long. */
const retryMs = 1000;

export type StreamSources = {
	readonly liveView: LiveView;
	readonly hosts: Pick<RemoteHosts, 'known' | 'look'>;
	readonly about: About;
	readonly monotonicMs: () => number;
};

export function createStreams(
	{liveView, hosts, about, monotonicMs}: StreamSources,
	{mostStreams = 1000, mostUnreadBytes = 1_000_000, beatMs = 10_000}: StreamLimits = {},
): EventStreams {
	/** Oldest first, with what is to be done when they end. */
	const open = new Map<ServerResponse, {readonly connection: Connection; readonly ends: ReadonlyArray<() => void>}>();
	const encoder = createEncoder(liveView.current(), about);
	/** Ids go on over a restart of the server, so that they never repeat. */
	let id = Date.now();
	let whole: Uint8Array | undefined;

	const message = (event: string, data: string): Uint8Array =>
		new TextEncoder().encode(`id: ${id}\nevent: ${event}\ndata: ${data}\n\n`);

	const send = (to: Iterable<ServerResponse>, bytes: Uint8Array): void => {
		for (const outgoing of to) {
			if (outgoing.writableLength > mostUnreadBytes) {
				outgoing.destroy();
			} else {
				outgoing.write(bytes);
			}
		}
	};

	const unsubscribe = liveView.subscribe((next) => {
		const change = encoder.change(next);
		if (change === undefined) {
			return;
		}

		id++;
		whole = undefined;
		send(open.keys(), message('change', change));
	});
	const hostStreams = createHostStreams<ServerResponse>(hosts, monotonicMs, (to, json) => {
		send(to, message('hosts', json));
	});
	const beat = setInterval(() => {
		send(open.keys(), message('beat', '{}'));
	}, beatMs);
	beat.unref();

	function end(outgoing: ServerResponse): void {
		const known = open.get(outgoing);
		open.delete(outgoing);
		for (const endOne of known?.ends ?? []) {
			endOne();
		}
	}

	/** Makes room at the cost of whoever has most streams, unless the newcomer would have as many. */
	function makeRoom(newcomer: Connection): boolean {
		const [own, ...others] = callersOf([newcomer, ...Array.from(open.values(), ({connection}) => connection)]);
		const byCaller = Map.groupBy(
			open.keys().map((outgoing, place) => ({outgoing, caller: others[place]})),
			({caller}) => caller,
		);
		const largest = Math.max(...byCaller.values().map(({length}) => length));
		const most = byCaller.values().find(({length}) => length === largest)!;
		if ((byCaller.get(own)?.length ?? 0) + 1 >= largest) {
			return false;
		}

		const {outgoing} = most[0]!;
		end(outgoing);
		outgoing.destroy();
		return true;
	}

	return {
		open(outgoing, {withHosts}) {
			// Whoever has left already would never be seen to leave.
			if (outgoing.destroyed) {
				return true;
			}

			// Once the connection is closed it names its ends no more.
			const {remoteAddress, remotePort, localAddress, localPort} = outgoing.socket ?? {};
			const connection = {remoteAddress, remotePort, localAddress, localPort};
			if (open.size >= mostStreams && !makeRoom(connection)) {
				return false;
			}

			outgoing.writeHead(200, {
				'content-type': 'text/event-stream; charset=utf-8',
				'cache-control': 'no-store, no-transform',
				// For proxies that would gather events before they pass them on.
				'x-accel-buffering': 'no',
			});
			outgoing.write(`retry: ${retryMs}\n\n`);
			whole ??= message('state', encoder.whole());
			outgoing.write(whole);
			open.set(outgoing, {connection, ends: [liveView.watch(), ...(withHosts ? [hostStreams.open(outgoing)] : [])]});
			outgoing.once('close', () => {
				end(outgoing);
			});
			return true;
		},
		count: () => open.size,
		close() {
			unsubscribe();
			hostStreams.close();
			clearInterval(beat);
			for (const outgoing of open.keys()) {
				outgoing.destroy();
			}
		},
	};
}
