/** Colors by meaning. Without color, the same functions return the text unchanged. */
import {Chalk, supportsColor} from 'chalk';

export type Paint = {
	readonly available: (text: string) => string;
	readonly inUse: (text: string) => string;
	readonly unreserved: (text: string) => string;
	readonly error: (text: string) => string;
	readonly header: (text: string) => string;
	readonly dim: (text: string) => string;
	readonly bold: (text: string) => string;
};

/** @param hasColor - False for `--no-color`. Otherwise, NO_COLOR, FORCE_COLOR and whether stdout is a terminal decide. */
export function createPaint(hasColor: boolean, environment: Readonly<Record<string, string | undefined>>): Paint {
	const isRefused = !hasColor || (environment['NO_COLOR'] ?? '') !== '';
	const chalk = new Chalk({level: isRefused || supportsColor === false ? 0 : supportsColor.level});
	return {
		available: chalk.green.bold,
		inUse: chalk.blue,
		unreserved: chalk.yellow.bold,
		error: chalk.red.bold,
		header: chalk.cyan,
		dim: chalk.dim,
		bold: chalk.bold,
	};
}
