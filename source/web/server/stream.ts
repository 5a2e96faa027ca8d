/**
`/api/events`: one feed for all who listen. Each change is encoded once. A browser that cannot keep up is dropped and comes back by itself.
*/
import {Buffer} from 'node:buffer';
import type {ServerResponse} from 'node:http';
import {constants, deflateRawSync} from 'node:zlib';
import type {RemoteHosts} from '../api/hosts.js';
import type {ShownCommands} from '../api/commands.js';
import {createEncoder, type About} from '../api/live-json.js';
import type {LiveView} from '../../core/live/live-view.js';
import {createHostStreams} from './host-streams.js';
import {callersOf, type Connection} from './callers.js';

/** Of any gzip stream: deflated, no name, no time, an unknown system. */
const gzipHeader: Uint8Array = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff]);

/**
A message is compressed once for all who listen. Compressed it is a block that needs nothing of those before it, so that the blocks of all
messages since a page began to listen make a whole gzip stream for them.
*/
type Message = {
	readonly plain: Uint8Array;
	/** Behind {@link gzipHeader} and any number of messages. */
	readonly squeezed: () => Uint8Array;
};

function messageOf(text: string): Message {
	const plain = new TextEncoder().encode(text);
	let squeezed: Uint8Array | undefined;
	return {
		plain,
		squeezed() {
			squeezed ??= deflateRawSync(plain, {finishFlush: constants.Z_FULL_FLUSH});
			return squeezed;
		},
	};
}

type StreamOptions = {
	/** Whether the page gets the other hosts, too. */
	readonly withHosts: boolean;
	/** Whether the browser takes gzip. */
	readonly isSqueezed?: boolean;
};

export type EventStreams = {
	/**
	Sends everything, then every change. Where there are too many already, the oldest of the caller with the most gives way. False when that would be
	the one who asks.
	*/
	readonly open: (outgoing: ServerResponse, options: StreamOptions) => boolean;
	readonly count: () => number;
	readonly close: () => void;
};

type StreamLimits = {
	readonly mostStreams?: number;
	/** Who has so much unread is dropped. */
	readonly mostUnreadBytes?: number;
	readonly heartbeatMs?: number;
};

/** A browser whose connection broke tries again after this long. */
const retryMs = 1000;

type StreamSources = {
	readonly liveView: LiveView;
	readonly hosts: Pick<RemoteHosts, 'known' | 'subscribe'>;
	readonly about: () => About;
	readonly commands: ShownCommands;
	readonly monotonicMs: () => number;
};

type OpenStream = {readonly connection: Connection; readonly caller?: string; readonly ends: ReadonlyArray<() => void>};

export function createStreams(
	{liveView, hosts, about, commands, monotonicMs}: StreamSources,
	{mostStreams = 1000, mostUnreadBytes = 1_000_000, heartbeatMs = 10_000}: StreamLimits = {},
): EventStreams {
	/** Oldest first, with what is to be done when they end. Their callers are found when there are too many, once each. */
	const open = new Map<ServerResponse, OpenStream>();
	/** Those whose caller is known. */
	const byCaller = new Map<string, Set<ServerResponse>>();
	const encoder = createEncoder(liveView.current(), about, commands);
	/** Of the newest message that says something. Ids go on over a restart of the server, so that no two messages have the same. */
	let id = Date.now();
	/** The first message, for all who begin to listen within a second: it holds the time. */
	let whole: {readonly message: Message; readonly atMs: number} | undefined;
	/** Those that take gzip. */
	const squeezed = new WeakSet<ServerResponse>();

	const numbered = (event: string, data: string): Message => {
		id++;
		return messageOf(`id: ${id}\nevent: ${event}\ndata: ${data}\n\n`);
	};

	/** Says nothing but that the server is there, and so has no id. */
	const beat = messageOf('event: beat\ndata: {}\n\n');

	const write = (outgoing: ServerResponse, {plain, squeezed: squeeze}: Message): void => {
		outgoing.write(squeezed.has(outgoing) ? squeeze() : plain);
	};

	const send = (to: Iterable<ServerResponse>, sent: Message): void => {
		for (const outgoing of to) {
			if (outgoing.writableLength > mostUnreadBytes) {
				outgoing.destroy();
			} else {
				write(outgoing, sent);
			}
		}
	};

	function everything(): Message {
		const atMs = monotonicMs();
		if (whole === undefined || atMs - whole.atMs >= 1000) {
			whole = {message: numbered('state', encoder.whole(liveView.now())), atMs};
		}

		return whole.message;
	}

	const unsubscribe = liveView.subscribe((next) => {
		const change = encoder.change(next);
		if (change === undefined) {
			return;
		}

		whole = undefined;
		send(open.keys(), numbered('change', change));
	});
	const hostStreams = createHostStreams<ServerResponse>(hosts, monotonicMs, (to, json) => {
		send(to, numbered('hosts', json));
	});
	const heartbeat = setInterval(() => {
		send(open.keys(), beat);
	}, heartbeatMs);
	heartbeat.unref();

	function end(outgoing: ServerResponse): void {
		const known = open.get(outgoing);
		open.delete(outgoing);
		const {caller = ''} = known ?? {};
		const own = byCaller.get(caller);
		if (own?.delete(outgoing) === true && own.size === 0) {
			byCaller.delete(caller);
		}

		for (const endOne of known?.ends ?? []) {
			endOne();
		}
	}

	/** Answers who the newcomer is; from then on it is known of all who are there. */
	function identify(newcomer: Connection): string {
		const unknown = [...open].filter(([, {caller}]) => caller === undefined);
		const [own, ...callers] = callersOf([newcomer, ...unknown.map(([, {connection}]) => connection)]);
		for (const [index, [outgoing, known]] of unknown.entries()) {
			join(outgoing, {...known, caller: callers[index]!});
		}

		return own!;
	}

	function join(outgoing: ServerResponse, known: OpenStream): void {
		// One that is there keeps its place among the oldest.
		open.set(outgoing, known);
		const {caller} = known;
		if (caller !== undefined) {
			byCaller.set(caller, (byCaller.get(caller) ?? new Set()).add(outgoing));
		}
	}

	/** Makes room at the cost of the caller with the most streams, unless the newcomer would have as many. */
	function makeRoom(newcomer: string): boolean {
		const largest = Math.max(...byCaller.values().map(({size}) => size));
		if ((byCaller.get(newcomer)?.size ?? 0) + 1 >= largest) {
			return false;
		}

		const [oldest] = byCaller.values().find(({size}) => size === largest)!;
		end(oldest!);
		oldest!.destroy();
		return true;
	}

	return {
		open(outgoing, {withHosts, isSqueezed = false}) {
			// A browser that has left already would never be seen to leave.
			if (outgoing.destroyed) {
				return true;
			}

			// Once the connection is closed it names its ends no more.
			const {remoteAddress, remotePort, localAddress, localPort} = outgoing.socket ?? {};
			const connection = {remoteAddress, remotePort, localAddress, localPort};
			const caller = open.size < mostStreams ? undefined : identify(connection);
			if (caller !== undefined && !makeRoom(caller)) {
				return false;
			}

			outgoing.writeHead(200, {
				'content-type': 'text/event-stream; charset=utf-8',
				'cache-control': 'no-store, no-transform',
				// For proxies that would gather events before they pass them on.
				'x-accel-buffering': 'no',
				...(isSqueezed && {'content-encoding': 'gzip'}),
			});
			if (isSqueezed) {
				squeezed.add(outgoing);
				outgoing.write(gzipHeader);
			}

			write(outgoing, messageOf(`retry: ${retryMs}\n\n`));
			write(outgoing, everything());
			const ends = [liveView.watch(), ...(withHosts ? [hostStreams.open(outgoing)] : [])];
			join(outgoing, {connection, caller, ends});
			outgoing.once('close', () => {
				end(outgoing);
			});
			return true;
		},
		count: () => open.size,
		close() {
			unsubscribe();
			hostStreams.close();
			clearInterval(heartbeat);
			for (const outgoing of open.keys()) {
				outgoing.destroy();
			}
		},
	};
}
