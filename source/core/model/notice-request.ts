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
	`own`: a program from a config file, run with `environment` and only PATH, HOME and LANG of this process. `system`: a system tool.
	`desktop`: a system tool that also needs the session bus.
	*/
	readonly runs: 'own' | 'system' | 'desktop';
	/** Commands in order of preference. The first one whose program is installed is run, without a shell. */
	readonly ways: ReadonlyArray<{readonly argv: readonly string[]; readonly stdin: string}>;
	readonly environment: Readonly<Record<string, string>>;
};

export type TerminalRequest = {readonly type: 'terminal'; readonly account: string; readonly text: string};

export type NoticeRequest =
	HttpRequest | ProgramRequest | TerminalRequest | {readonly type: 'impossible'; readonly reason: string};

/** `absent`: there is no recipient, for example because no desktop session is open. This is not a failure. */
export type Delivery =
	{readonly outcome: 'delivered'} | {readonly outcome: 'absent' | 'failed'; readonly reason: string};
