import {constants, fchmodSync, fstatSync} from 'node:fs';
import {isatty} from 'node:tty';

/**
Stops other programs of this machine from writing messages to a terminal, as `mesg n` does. Returns a function that allows them again. Does nothing
for a terminal of another account, or if `descriptor` is no terminal.
*/
export function refuseMessages(descriptor: number): () => void {
	const setMode = (mode: number): void => {
		try {
			fchmodSync(descriptor, mode);
		} catch {
			// The terminal belongs to another account, or is closed.
		}
	};

	try {
		const mode = fstatSync(descriptor).mode % 0o1_0000;
		// eslint-disable-next-line no-bitwise -- permissions are bits
		if (isatty(descriptor) && (mode & constants.S_IWGRP) !== 0) {
			setMode(mode - constants.S_IWGRP);
			return () => {
				setMode(mode);
			};
		}
	} catch {
		// The descriptor is closed.
	}

	return () => undefined;
}
