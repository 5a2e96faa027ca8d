/** Commands as a person would type them. */

const safe = /^[\w%+,\-.\/:=@]+$/v;

/** One argument, quoted only when a POSIX shell would otherwise read it differently. */
export const shellQuote = (argument: string): string =>
	safe.test(argument) ? argument : `'${argument.replaceAll("'", String.raw`'\''`)}'`;

/** A whole command line. */
export const shellCommand = (argv: readonly string[]): string => argv.map((argument) => shellQuote(argument)).join(' ');
