/**
Messages of a stream, compressed once for all who listen. Each is a block of its own that needs nothing of those before it, so that the blocks of
all messages since somebody began to listen make a whole gzip stream for them.
*/
import {Buffer} from 'node:buffer';
import {constants, deflateRawSync} from 'node:zlib';

/** Of any gzip stream: deflated, no name, no time, an unknown system. */
export const gzipHeader: Uint8Array = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff]);

export type Message = {
	readonly plain: Uint8Array;
	/** Behind {@link gzipHeader} and any number of messages. */
	readonly squeezed: () => Uint8Array;
};

export function messageOf(text: string): Message {
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
