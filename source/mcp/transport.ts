import {once} from 'node:events';
import {Writable, type Readable} from 'node:stream';
import {StdioServerTransport} from '@modelcontextprotocol/server/stdio';
import {harmlessText} from '../format/text/json.js';

/** Time in ms for which the server, when it stops, waits for a client that does not read. */
const patienceMs = 1000;

/** Returns a stream for messages of the protocol, in which characters that act on a terminal are escaped. The data stays the same. */
function harmlessOutput(output: Writable): Writable {
	const messages = new Writable({
		decodeStrings: false,
		write(chunk: Uint8Array | string, _encoding, done) {
			output.write(harmlessText(chunk.toString()), done);
		},
	});
	// Every message that waits for the client has listeners, and Node would warn of more than ten on stderr.
	messages.setMaxListeners(0);
	return messages;
}

export class ClientTransport extends StdioServerTransport {
	readonly #closed = Promise.withResolvers<void>();
	readonly #messages: Writable;

	constructor(input: Readable, output: Writable) {
		const messages = harmlessOutput(output);
		super(input, messages);
		this.#messages = messages;
	}

	/** Resolves when the client has closed its side of the connection, or when nothing can be written to the client. */
	get closed(): Promise<void> {
		return this.#closed.promise;
	}

	override async close(): Promise<void> {
		await super.close();
		this.#closed.resolve();
	}

	/** Waits until the last message is written. Returns false if the client does not read it. Call it after `close`. */
	async flush(): Promise<boolean> {
		try {
			if (!this.#messages.destroyed) {
				const written = once(this.#messages, 'finish', {signal: AbortSignal.timeout(patienceMs)});
				this.#messages.end();
				await written;
			}

			return true;
		} catch {
			// After an error, the client no longer reads, so there is nothing left to write.
			return this.#messages.destroyed;
		}
	}
}
