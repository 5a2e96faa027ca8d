import {type IPty, spawn} from '@lydell/node-pty';
import {patienceMs} from '../eventually.js';

/** The parts of node-pty's terminal that its types leave out. */
type Internals = {readonly destroy: () => void; readonly _socket: {destroy: () => void}};

/**
Starts a program on its own terminal. After the end of the program, node-pty closes the terminal within 200 ms, and loses output that arrives later
on a busy machine. This waits until the kernel reports the end of the output.
*/
export function spawnOnTerminal(...program: Parameters<typeof spawn>): {pty: IPty; hangUp: () => void} {
	const pty = spawn(...program);
	const terminal = pty as unknown as Internals;
	const {_socket: socket} = terminal;
	const closeNow = socket.destroy.bind(socket);
	socket.destroy = () => {
		setTimeout(closeNow, patienceMs).unref();
	};

	return {
		pty,
		hangUp() {
			socket.destroy = closeNow;
			terminal.destroy();
		},
	};
}
