/** Asks the kernel which account is at the other end of a local socket. */
import {Buffer} from 'node:buffer';
import type {Socket} from 'node:net';
import process from 'node:process';

/** The constants below are those of `sys/socket.h` on these architectures. */
const architectures: ReadonlySet<string> = new Set(['x64', 'arm64', 'arm', 'riscv64']);
const socketLevel = 1;
const peerCredentials = 17;
/** Three numbers of 32 bits: pid, uid, gid. */
const credentialBytes = 12;

type SocketQuestion = [file: number, level: number, option: number, value: Uint8Array, length: Uint8Array];

/** The signature for koffi. Negative results are errors. */
type GetSocketOption = (...question: SocketQuestion) => number;

/** Loads a function that asks the kernel for a peer's uid. Undefined without koffi, in a binary, and on other systems. Node has no API for it. */
export async function loadPeerUid(): Promise<((socket: Socket) => number | undefined) | undefined> {
	if (process.platform !== 'linux' || process.versions['bun'] !== undefined || !architectures.has(process.arch)) {
		return undefined;
	}

	let getSocketOption: GetSocketOption;
	try {
		const {default: koffi} = await import('koffi');
		// The process has loaded the C library already.
		getSocketOption = koffi
			.load(null)
			.func('getsockopt', 'int', ['int', 'int', 'int', 'void *', 'void *']) as GetSocketOption;
	} catch {
		return undefined;
	}

	return (socket) => {
		// Node has no public API for the descriptor.
		const {_handle: handle} = socket as unknown as {readonly _handle?: {readonly fd?: number}};
		const file = handle?.fd;
		if (file === undefined || file < 0) {
			return undefined;
		}

		const value = Buffer.alloc(credentialBytes);
		const length = Buffer.alloc(4);
		length.writeInt32LE(credentialBytes);
		return getSocketOption(file, socketLevel, peerCredentials, value, length) < 0 ? undefined : value.readUInt32LE(4);
	};
}
