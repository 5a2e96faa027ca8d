/** The stdin and stdout of the server, as a connection to one client. */
import {Writable, type Readable} from 'node:stream';
import {StdioServerTransport} from '@modelcontextprotocol/server/stdio';
import {harmlessText} from '../format/text/json.js';

/** Returns a stream for messages of the protocol, in which characters that act on a terminal are escaped. The data stays the same. */
const harmlessOutput = (output: Writable): Writable =>
	new Writable({
		decodeStrings: false,
		write(chunk: Uint8Array | string, _encoding, done) {
			output.write(harmlessText(chunk.toString()), done);
		},
	});

export class ClientTransport extends StdioServerTransport {
	readonly #closed = Promise.withResolvers<void>();

	constructor(input: Readable, output: Writable) {
		super(input, harmlessOutput(output));
	}

	/** Resolves when the client has closed its end, or its output cannot be written. */
	get closed(): Promise<void> {
		return this.#closed.promise;
	}

	override async close(): Promise<void> {
		await super.close();
		this.#closed.resolve();
	}
}
