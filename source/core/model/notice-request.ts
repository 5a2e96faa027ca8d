/** Requests that deliver a notice. Pure functions build them, and the host carries them out. */

export type HttpRequest = {
	readonly type: 'http';
	readonly method: 'POST';
	readonly url: string;
	readonly headers: Readonly<Record<string, string>>;
	readonly body: string;
};

export type ProgramRequest = {
	readonly type: 'program';
	/**
	`own`: a program that a config file names, run in the environment of this process without its secrets. `system`: a tool of the operating system.
	`desktop`: a tool that needs the session bus of this account.
	*/
	readonly runs: 'own' | 'system' | 'desktop';
	/** The first whose program is installed is run. There is no shell. */
	readonly ways: ReadonlyArray<{readonly argv: readonly string[]; readonly stdin: string}>;
	readonly environment: Readonly<Record<string, string>>;
};

export type TerminalRequest = {readonly type: 'terminal'; readonly account: string; readonly text: string};

export type NoticeRequest =
	| HttpRequest
	| ProgramRequest
	| TerminalRequest
	/** The target cannot deliver this notice. */
	| {readonly type: 'impossible'; readonly reason: string};

/** `absent`: there was nobody to deliver to, such as no desktop session, which is no failure. */
export type Delivery =
	{readonly outcome: 'delivered'} | {readonly outcome: 'absent' | 'failed'; readonly reason: string};
