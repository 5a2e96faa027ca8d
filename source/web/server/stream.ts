/** Serves `/api/events`. Encodes each change once for all pages. Disconnects a browser that reads too slowly, which then reconnects. */
import {Buffer} from 'node:buffer';
import type {ServerResponse} from 'node:http';
import {constants, deflateRawSync} from 'node:zlib';
import type {RemoteHosts} from '../api/hosts.js';
import type {ShownCommands} from '../api/commands.js';
import {createEncoder, type About} from '../api/live-json.js';
import type {LiveView} from '../../core/live/live-view.js';
import {createHostStreams} from './host-streams.js';
import {callersOf, type Connection} from './callers.js';

/** A gzip header: deflate, no name, no time, unknown system. */
const gzipHeader: Uint8Array = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff]);

/** A message, compressed once for all pages. Compressed blocks are independent, so after the header any sequence of them is valid gzip. */
type Message = {
	readonly plain: Uint8Array;
	/** Returns the compressed message. It can follow {@link gzipHeader} and any other messages. */
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
	readonly withHosts: boolean;
	readonly isSqueezed?: boolean;
};

export type EventStreams = {
	/** Sends the whole state and every change. At the limit, closes a stream of the caller with the most. Returns false if that is the new caller. */
	readonly open: (outgoing: ServerResponse, options: StreamOptions) => boolean;
	readonly count: () => number;
	readonly close: () => void;
};

type StreamLimits = {
	readonly mostStreams?: number;
	/** A browser with more unread bytes than this is disconnected. */
	readonly mostUnreadBytes?: number;
	readonly heartbeatMs?: number;
};

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
	/** The open streams with their cleanup, oldest first. Their callers are looked up only if there are too many streams. */
	const open = new Map<ServerResponse, OpenStream>();
	const byCaller = new Map<string, Set<ServerResponse>>();
	const encoder = createEncoder(liveView.current(), about, commands);
	/** The id of the newest message. It starts at the current time, so that ids stay unique when the server restarts. */
	let id = Date.now();
	/** The complete state. Pages that connect within one second share it. It is not kept for longer, because it contains the time. */
	let whole: {readonly message: Message; readonly atMs: number} | undefined;
	const squeezed = new WeakSet<ServerResponse>();

	const numbered = (event: string, data: string): Message => {
		id++;
		return messageOf(`id: ${id}\nevent: ${event}\ndata: ${data}\n\n`);
	};

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

	function identify(newcomer: Connection): string {
		const unknown = [...open].filter(([, {caller}]) => caller === undefined);
		const [own, ...callers] = callersOf([newcomer, ...unknown.map(([, {connection}]) => connection)]);
		for (const [index, [outgoing, known]] of unknown.entries()) {
			join(outgoing, {...known, caller: callers[index]!});
		}

		return own!;
	}

	function join(outgoing: ServerResponse, known: OpenStream): void {
		// Setting an existing key does not change the order of the streams.
		open.set(outgoing, known);
		const {caller} = known;
		if (caller !== undefined) {
			byCaller.set(caller, (byCaller.get(caller) ?? new Set()).add(outgoing));
		}
	}

	/** Closes the oldest stream of the caller with the most streams, unless the new caller would then have as many. */
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
			// Adds no stream for a browser that has already disconnected, because no close event would remove it.
			if (outgoing.destroyed) {
				return true;
			}

			// A socket that is already closed has no addresses.
			const {remoteAddress, remotePort, localAddress, localPort} = outgoing.socket ?? {};
			const connection = {remoteAddress, remotePort, localAddress, localPort};
			const caller = open.size < mostStreams ? undefined : identify(connection);
			if (caller !== undefined && !makeRoom(caller)) {
				return false;
			}

			outgoing.writeHead(200, {
				'content-type': 'text/event-stream; charset=utf-8',
				'cache-control': 'no-store, no-transform',
				// Prevents proxies from buffering events.
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
