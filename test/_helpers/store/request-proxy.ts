/** A proxy to redis-server that understands requests. It can delay, repeat or drop those that change the pool. */
import {Buffer} from 'node:buffer';
import {createHash} from 'node:crypto';
import {once} from 'node:events';
import {connect, createServer, type AddressInfo, type Socket} from 'node:net';
import {setTimeout as sleep} from 'node:timers/promises';
import commitLua from '../../../source/store/redis/lua/commit.lua';
import {withConstants} from '../../../source/store/redis/script.js';

/** The fate of one commit. Unless it is prompt, the client gets no reply. */
export type CommitFate =
	| 'prompt'
	/** The connection is cut, and the commit reaches the server just before the next one. */
	| 'arrives before the next'
	/** The connection is cut, and the commit reaches the server right after the next one. */
	| 'arrives after the next'
	/** The connection is cut, and the commit reaches the server when the test calls `deliver`. */
	| 'arrives when told'
	/** The commit is carried out, and then the connection is cut. */
	| 'is carried out and its connection is cut'
	/** The commit is carried out, but its reply arrives only after the client has given up. */
	| 'is carried out and not answered'
	/** The connection is cut, and the commit never reaches the server. */
	| 'never arrives';

export type Outage = {
	readonly forMs: number;
	/** Whether the client gets the answer to the request before the connections are closed. The server carries out the request in any case. */
	readonly isAnswered: boolean;
};

export type RequestProxy = {
	readonly port: number;
	/** Assigns these fates to the next commits. Later commits are prompt. */
	readonly meet: (fates: readonly CommitFate[]) => void;
	/** Returns the number of commits since `meet`. */
	readonly commits: () => number;
	/** Returns how many of the delayed commits since `meet` have reached the server. */
	readonly arrived: () => number;
	/** Delivers the delayed commits, and waits for the replies of the server. */
	readonly deliver: () => Promise<void>;
	/** Closes all connections when a request contains this text, and rejects new connections for some time. The outage happens once. */
	readonly failAt: (text: string, outage: Outage) => void;
	/** Rejects new connections and closes all open ones. */
	readonly shut: () => Promise<void>;
	readonly close: () => Promise<void>;
};

/** Removes one complete request from the start of a client's data. Undefined if the request is incomplete. */
function takeRequest(sent: Uint8Array): {readonly words: readonly string[]; readonly length: number} | undefined {
	const bytes = Buffer.from(sent.buffer, sent.byteOffset, sent.length);
	const lineAt = (from: number): readonly [number, number] | undefined => {
		const end = bytes.indexOf('\r\n', from);
		return end === -1 ? undefined : [Number(bytes.subarray(from + 1, end).toString()), end + 2];
	};

	const head = lineAt(0);
	if (head === undefined) {
		return undefined;
	}

	let [count, at] = head;
	const words: string[] = [];
	for (; count > 0; count--) {
		const size = lineAt(at);
		if (size === undefined || bytes.length < size[1] + size[0] + 2) {
			return undefined;
		}

		words.push(bytes.subarray(size[1], size[1] + size[0]).toString());
		at = size[1] + size[0] + 2;
	}

	return {words, length: at};
}

const commitScript = withConstants(commitLua);
const commitDigest = createHash('sha1').update(commitScript).digest('hex');

/** Whether a request is a commit. Everything else is passed on unchanged. */
const isCommit = ([name = '', script]: readonly string[]): boolean =>
	/^eval/iv.test(name) && (script === commitDigest || script === commitScript);

/** Time in ms in which the client receives an answer that the proxy has passed on. */
const passMs = 5;

/** Resolves when the socket has received data or has ended. Removes its listeners, because many commits use the same connection. */
async function answerOf(socket: Socket): Promise<void> {
	const settled = new AbortController();
	const {signal} = settled;
	try {
		await Promise.race([once(socket, 'data', {signal}), once(socket, 'close', {signal})]);
	} catch {
		// The connection failed and is closing.
	} finally {
		settled.abort();
	}
}

/** Opens a proxy to a port of this machine, on a new port. */
export async function openRequestProxy(serverPort: number): Promise<RequestProxy> {
	const sockets = new Set<Socket>();
	let fates: CommitFate[] = [];
	const counts = {commits: 0, arrived: 0};
	/** Delayed commits. Each is delivered before the next commit, after it, or on request. */
	let held: Array<{readonly request: Uint8Array; readonly fate: CommitFate}> = [];

	const open = (): Socket => {
		const socket = connect(serverPort, '127.0.0.1');
		socket.setNoDelay(true);
		socket.on('error', () => undefined);
		return socket;
	};

	/** Sends one request on a new connection. Resolves when it was answered or the server is down. */
	const sendAlone = async (request: Uint8Array): Promise<void> => {
		const socket = open();
		socket.write(request);
		await answerOf(socket);
		socket.destroy();
	};

	const deliverDue = async (isDue: (fate: CommitFate) => boolean): Promise<void> => {
		const due = held.filter(({fate}) => isDue(fate));
		held = held.filter(({fate}) => !isDue(fate));
		for (const {request} of due) {
			await sendAlone(request);
			counts.arrived++;
		}
	};

	let nextOutage: (Outage & {readonly text: string}) | undefined;
	let isDown = false;
	const cutAll = (): void => {
		for (const socket of sockets) {
			socket.destroy();
		}
	};

	const outageAt = (words: readonly string[]): Outage | undefined => {
		const outage = nextOutage;
		if (outage === undefined || words.every((word) => !word.includes(outage.text))) {
			return undefined;
		}

		nextOutage = undefined;
		return outage;
	};

	const fail = async (request: Uint8Array, upstream: Socket, {forMs, isAnswered}: Outage): Promise<void> => {
		if (isAnswered) {
			const answered = answerOf(upstream);
			upstream.write(request);
			await answered;
			await sleep(passMs);
		} else {
			await sendAlone(request);
		}

		isDown = true;
		cutAll();
		await sleep(forMs);
		isDown = false;
	};

	let delivery = Promise.resolve();
	/** Delivers the delayed commits that are due. Deliveries run one after another, so a caller also waits for those that have already begun. */
	const deliver = async (isDue: (fate: CommitFate) => boolean): Promise<void> => {
		delivery = delivery.then(async () => deliverDue(isDue));
		return delivery;
	};

	const meetFate = async (request: Uint8Array, client: Socket, upstream: Socket): Promise<void> => {
		await deliver((fate) => fate === 'arrives before the next');
		const fate = fates.shift() ?? 'prompt';
		switch (fate) {
			case 'prompt': {
				// A server that is killed at this moment does not answer, which is allowed.
				const answered = answerOf(upstream);
				upstream.write(request);
				if (held.some((other) => other.fate === 'arrives after the next')) {
					await answered;
					await deliver((other) => other === 'arrives after the next');
				}

				break;
			}

			case 'is carried out and its connection is cut': {
				await sendAlone(request);
				client.destroy();
				break;
			}

			case 'is carried out and not answered': {
				await sendAlone(request);
				// Replies must come in the order of the requests, so no more replies can be sent on this connection.
				await once(client, 'close').catch(() => undefined);
				break;
			}

			case 'never arrives': {
				client.destroy();
				break;
			}

			case 'arrives before the next':
			case 'arrives after the next':
			case 'arrives when told': {
				held.push({request, fate});
				client.destroy();
			}
		}
	};

	const server = createServer((client) => {
		if (isDown) {
			client.destroy();
			return;
		}

		const upstream = open();
		client.setNoDelay(true);
		client.on('error', () => undefined);
		let bytes = Buffer.alloc(0);
		let work = Promise.resolve();
		client.on('data', (more) => {
			bytes = Buffer.concat([bytes, more]);
			for (let next = takeRequest(bytes); next !== undefined; next = takeRequest(bytes)) {
				const {words, length} = next;
				const request = Buffer.from(bytes.subarray(0, length));
				bytes = bytes.subarray(length);
				work = work.then(async () => {
					const outage = outageAt(words);
					if (outage !== undefined) {
						await fail(request, upstream, outage);
					} else if (isCommit(words)) {
						counts.commits++;
						await meetFate(request, client, upstream);
					} else {
						upstream.write(request);
					}
				});
			}
		});
		upstream.on('data', (answer) => {
			client.write(answer);
		});
		for (const [one, other] of [
			[client, upstream],
			[upstream, client],
		] as const) {
			sockets.add(one);
			one.on('close', () => {
				sockets.delete(one);
				other.destroy();
			});
		}
	}).listen(0, '127.0.0.1');
	await once(server, 'listening');
	const {port} = server.address() as AddressInfo;

	const shut = async (): Promise<void> => {
		cutAll();
		if (!server.listening) {
			return;
		}

		server.close();
		await once(server, 'close');
	};

	return {
		port,
		meet(next) {
			fates = [...next];
			counts.commits = 0;
			counts.arrived = 0;
		},
		commits: () => counts.commits,
		arrived: () => counts.arrived,
		deliver: async () => deliver(() => true),
		failAt(text, outage) {
			nextOutage = {text, ...outage};
		},
		shut,
		close: shut,
	};
}
