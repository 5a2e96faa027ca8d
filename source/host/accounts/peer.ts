import {Buffer} from 'node:buffer';
import type {Socket} from 'node:net';
import process from 'node:process';

/** The architectures on which `sys/socket.h` has the constants below. */
const architectures: ReadonlySet<string> = new Set(['x64', 'arm64', 'arm', 'riscv64']);
const socketLevel = 1;
const peerCredentials = 17;
/** Size of the kernel's answer: pid, uid and gid of the peer, with 32 bits each. */
const credentialBytes = 12;

type SocketQuestion = [file: number, level: number, option: number, value: Uint8Array, length: Uint8Array];

/** The C function getsockopt(2), as loaded by koffi. A negative result is an error. */
type GetSocketOption = (...question: SocketQuestion) => number;

/** Loads a function that asks the kernel for the uid of a socket's peer. Undefined without koffi, in a binary, and on systems other than Linux. */
export async function loadPeerUid(): Promise<((socket: Socket) => number | undefined) | undefined> {
	if (process.platform !== 'linux' || process.versions['bun'] !== undefined || !architectures.has(process.arch)) {
		return undefined;
	}

	let getSocketOption: GetSocketOption;
	try {
		const {default: koffi} = await import('koffi');
		// `null` means this program, which has already loaded the C library.
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
