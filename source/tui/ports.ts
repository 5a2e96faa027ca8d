/** What the monitor needs beside the world of the core. The composition gives it; a monitor without one of them says that it cannot. */
import type {Holding} from '../core/rules/leases/holdings.js';
import type {AuditEntry, FactsOfProcesses, ProcessIdentity, Requester, Snapshot} from '../core/model/types.js';
import type {GpuProvider, World} from '../core/model/ports.js';

export type SignalName = 'SIGTERM' | 'SIGINT' | 'SIGKILL';

/** Sends a signal to a process of this account, as it was seen, and to no other. */
export type SendSignal = (process: ProcessIdentity, signal: SignalName) => 'sent' | 'gone' | 'not-yours' | 'unknown';

/** Reads what the kernel tells of processes just now. Never rejects. */
export type InspectProcesses = (pids: readonly number[]) => Promise<FactsOfProcesses>;

export type LineOptions = {
	/** Aborted: leave the queue, if that is where it is. */
	readonly signal: AbortSignal;
	/** Told when it stands in the queue, and how that goes. */
	readonly onWaiting: (words: string) => void;
	/** Told what it gave back. */
	readonly onReleased?: (released: readonly Holding[]) => void;
};

/** What can stand in the place of the last word of a line. */
export type Completion = {
	/** Where that word begins. */
	readonly start: number;
	readonly candidates: readonly string[];
};

/** What is shown of something that goes on. */
export type LiveOutputPage = {
	readonly lines: readonly string[];
	/** By line: what Enter types there. */
	readonly opens?: ReadonlyMap<number, string>;
	/** By line: what colour it has, as that of the state of a GPU. Others are plain. */
	readonly tones?: ReadonlyMap<number, LiveOutputTone>;
};

export type LiveOutputTone = 'free' | 'others' | 'warning' | 'error';

/** Something that goes on: it is shown at once, and again whenever there is news, until the returned function is called. */
export type LiveOutput = {readonly begin: (show: (page: LiveOutputPage) => void) => () => void};

/** The grammar of the program's own command line. */
export type CommandLine = {
	/**
	Runs a line such as `reserve -g 2 -d 4h`.

	@returns What it printed, in lines.
	@throws CanhazgpuError with the words that the command line would use.
	*/
	readonly run: (line: string, options: LineOptions) => Promise<readonly string[]>;
	/**
	What a line shows that goes on. Undefined for a line to be run.

	@throws CanhazgpuError for a line that is neither.
	*/
	readonly liveOutputOf?: (line: string) => LiveOutput | undefined;
	/** What a shell would be told for the same, such as `canhazgpu reserve -g 2`. Of a line that was understood. */
	readonly inShell: (line: string) => string;
	/** Of a line that ends at the caret; out of what is known of the pool. */
	readonly complete: (
		line: string,
		seen: {readonly snapshot: Snapshot | undefined; readonly audit: readonly AuditEntry[]},
	) => Promise<Completion>;
};

/** Lines that were typed before, newest last. Never fails. */
export type LineHistory = {readonly load: () => readonly string[]; readonly add: (line: string) => void};

export type MonitorPorts = {
	readonly sendSignal?: SendSignal;
	readonly inspectProcesses?: InspectProcesses;
	readonly commandLine?: CommandLine;
	readonly lineHistory?: LineHistory;
	/** The terminal is tmux, which keeps what is meant for the one around it. */
	readonly isInTmux?: boolean;
};

export type MonitorOptions = {
	readonly world: World;
	/** What is shown; the world's own GPUs unless given. An action always scans the world's own. */
	readonly watchedGpus?: GpuProvider;
	readonly requester: Requester;
	readonly hostname: string;
	/** Shown in the header, such as `PRIVATE pool`. */
	readonly poolLabel?: string;
	/** Shown once, at the start. */
	readonly notice?: string;
	readonly isReadonly: boolean;
	readonly ports?: MonitorPorts;
	/** From the end of one scan to the next. 2000 unless said otherwise. */
	readonly scanIntervalMs?: number;
	readonly isAscii: boolean;
	/** `auto`: as the terminal says in COLORFGBG, else dark. */
	readonly theme?: 'auto' | 'dark' | 'light';
	/** As NO_COLOR in the environment says, unless given. */
	readonly noColor?: boolean;
	/** A time of day from seconds since the epoch; the local time unless said otherwise. */
	readonly formatTime?: (seconds: number) => string;
	readonly stdout?: NodeJS.WriteStream;
	readonly stdin?: NodeJS.ReadStream;
	readonly stderr?: NodeJS.WriteStream;
};
