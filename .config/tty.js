/*
Stands for `node:tty` in the bundle. That module brings the network with it, which takes milliseconds of each start; what is no device is no
terminal, and is told without it; nor is /dev/null, which a script or cron gives for input. Streams of terminals come from it when they are asked
for.
*/
import { fstatSync } from "node:fs";

const whole = () => globalThis.process.getBuiltinModule("node:tty");

/** The devices of memory, such as /dev/null, have a number of their own: 1. */
const isOfMemory = ({ rdev }) => rdev >> 8 === 1;

export function isatty(descriptor) {
	try {
		const status = fstatSync(descriptor);
		return status.isCharacterDevice() && !isOfMemory(status) && whole().isatty(descriptor);
	} catch {
		return false;
	}
}

export default {
	isatty,
	get ReadStream() {
		return whole().ReadStream;
	},
	get WriteStream() {
		return whole().WriteStream;
	},
};
