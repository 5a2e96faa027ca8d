import process from 'node:process';

/**
Keeps this process alive, from now on, when an error reaches nobody. Node would end it, and a job or a position in the queue hangs on it.

@param report - Given each such error. Must not throw.
*/
export const outliveBugs = (report: (error: unknown) => void): void => {
	const listener = (error: unknown) => {
		report(error);
	};

	process.on('uncaughtException', listener);
	process.on('unhandledRejection', listener);
};
