/*
Stands for `node:tty` in the bundle. That module brings the network with it, which takes milliseconds of each start; what is no device is no
terminal, and is told without it. Streams of terminals come from it when they are asked for.
*/
import { fstatSync } from "node:fs";

const whole = () => globalThis.process.getBuiltinModule("node:tty");

export function isatty(descriptor) {
	try {
		return fstatSync(descriptor).isCharacterDevice() && whole().isatty(descriptor);
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
