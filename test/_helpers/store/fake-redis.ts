/** A fake Redis server, which can also give answers that no Redis gives. */
import {Buffer} from 'node:buffer';
import {once} from 'node:events';
import {createServer, type Socket} from 'node:net';
import {onTestFinished} from 'vitest';

export type FakeRedis = {
	readonly port: number;
	/** The commands that it has received. */
	readonly asked: ReadonlyArray<readonly string[]>;
};

/** Removes the complete commands, such as `*2 $3 GET $1 x`, from the start of the received bytes. */
function takeCommands(bytes: Uint8Array): {
	readonly commands: ReadonlyArray<readonly string[]>;
	readonly rest: Uint8Array;
} {
	const buffer = Buffer.from(bytes);
	const commands: string[][] = [];
	let taken = 0;
	for (;;) {
		let at = taken;
		const line = (): string | undefined => {
			const end = buffer.indexOf('\r\n', at);
			const text = end === -1 ? undefined : buffer.toString('latin1', at, end);
			at = end + 2;
			return text;
		};

		const count = line();
		const words: string[] = [];
		let isWhole = count !== undefined;
		for (let index = 0; isWhole && index < Number(count!.slice(1)); index++) {
			const length = Number(line()?.slice(1));
			isWhole = buffer.length >= at + length + 2;
			words.push(buffer.toString('utf8', at, at + length));
			at += length + 2;
		}

		if (!isWhole) {
			return {commands, rest: buffer.subarray(taken)};
		}

		commands.push(words);
		taken = at;
	}
}

/** Starts a server that listens until the test ends. `answer` returns the reply to a command in wire format. */
export async function startFakeRedis(answer: (words: readonly string[]) => string): Promise<FakeRedis> {
	const asked: Array<readonly string[]> = [];
	const sockets = new Set<Socket>();
	const server = createServer((socket) => {
		sockets.add(socket);
		let rest = new Uint8Array();
		socket.on('error', () => undefined);
		socket.on('data', (data: Uint8Array) => {
			const taken = takeCommands(Buffer.concat([rest, data]));
			rest = new Uint8Array(taken.rest);
			for (const words of taken.commands) {
				asked.push(words);
				socket.write(answer(words));
			}
		});
	}).listen(0, '127.0.0.1');
	await once(server, 'listening');
	onTestFinished(() => {
		for (const socket of sockets) {
			socket.destroy();
		}

		server.close();
	});
	return {port: (server.address() as {port: number}).port, asked};
}
