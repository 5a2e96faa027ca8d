import {type IPty, spawn} from '@lydell/node-pty';

/** Additional time in ms to read output that has already arrived. */
const lastOutputMs = 50;

/** The parts of node-pty's terminal that its types leave out. */
type Internals = {readonly destroy: () => void; readonly _socket: {destroy: () => void}};

/**
Starts a program on its own terminal. 200 ms after the end of the program, node-pty closes the terminal. On a busy machine, this process may not have
run in the meantime. So the terminal stays open a little longer, until this process has read the last output.
*/
export function spawnOnTerminal(...program: Parameters<typeof spawn>): {pty: IPty; hangUp: () => void} {
	const pty = spawn(...program);
	const terminal = pty as unknown as Internals;
	const {_socket: socket} = terminal;
	const closeNow = socket.destroy.bind(socket);
	socket.destroy = () => {
		setTimeout(closeNow, lastOutputMs).unref();
	};

	return {
		pty,
		hangUp() {
			socket.destroy = closeNow;
			terminal.destroy();
		},
	};
}
