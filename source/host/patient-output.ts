/** Writes output without waiting for its reader. Node would block on a terminal or pipe that nobody reads, and send no heartbeats meanwhile. */
import {Buffer} from 'node:buffer';
import {constants, fstatSync, openSync, writeSync} from 'node:fs';

export type PatientOutput = {
	readonly write: (text: string, written?: () => void) => void;
	readonly isStalled: () => boolean;
	/** Calls the listener whenever the reader has caught up with the output. */
	readonly onDrain: (listener: () => void) => void;
	readonly takeRest: () => string;
};

const retryMs = 20;

/** Opens the terminal or pipe of a descriptor again, because other programs share the open file and would notice its non-blocking flag. */
function openAgain(fd: 1 | 2): number | undefined {
	try {
		const status = fstatSync(fd);
		// A regular file that is opened again would be overwritten from its start.
		return status.isFIFO() || status.isCharacterDevice()
			? // eslint-disable-next-line no-bitwise -- Flags of open(2).
				openSync(`/proc/self/fd/${fd}`, constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY)
			: undefined;
	} catch {
		return undefined;
	}
}

/** Creates an output for stdout (1) or stderr (2). Undefined for a file, socket or foreign terminal. `failed` is called if the reader has gone. */
export function createPatientOutput(fd: 1 | 2, failed: (error: unknown) => void): PatientOutput | undefined {
	const opened = openAgain(fd);
	if (opened === undefined) {
		return undefined;
	}

	let waiting: Array<{rest: Uint8Array; readonly written?: (() => void) | undefined}> = [];
	let timer: NodeJS.Timeout | undefined;
	let drained = (): void => undefined;

	function flush(): void {
		for (let next = waiting[0]; next !== undefined; next = waiting[0]) {
			try {
				next.rest = next.rest.subarray(writeSync(opened!, next.rest));
			} catch (error) {
				if ((error as NodeJS.ErrnoException).code === 'EAGAIN') {
					return;
				}

				waiting = [];
				failed(error);
				return;
			}

			if (next.rest.length > 0) {
				continue;
			}

			waiting.shift();
			next.written?.();
		}
	}

	function flushLater(): void {
		timer = setTimeout(() => {
			timer = undefined;
			flush();
			if (waiting.length > 0) {
				flushLater();
			} else {
				drained();
			}
		}, retryMs);
		timer.unref();
	}

	return {
		write(text, written) {
			waiting.push({rest: Buffer.from(text), written});
			if (timer === undefined) {
				flush();
			}

			if (waiting.length > 0 && timer === undefined) {
				flushLater();
			}
		},
		isStalled: () => waiting.length > 0,
		onDrain(listener) {
			drained = listener;
		},
		takeRest() {
			const rest = Buffer.concat(waiting.map(({rest: left}) => left));
			waiting = [];
			return rest.toString();
		},
	};
}
