/** What the monitor needs beside the world of the core. The composition gives it; a monitor without one of them says that it cannot. */
import type {Holding} from '../core/rules/leases/holdings.js';
import type {
	AuditEntry,
	GpuReading,
	FactsOfProcesses,
	ProcessIdentity,
	Requester,
	Snapshot,
} from '../core/model/types.js';
import type {HostStatus} from '../format/hosts/remote-gpu.js';
import type {GpuColumnName, GraphCharacters, PresetName, ThemeName} from '../format/monitor-settings.js';
import type {GpuProvider, World} from '../core/model/ports.js';
import type {Wish} from '../core/operations/engine.js';
import type {SeenHost} from './state/hosts/state.js';

/** Output that never waits for its reader. */
export type PatientOutput = {
	readonly write: (text: string, written?: () => void) => void;
	/** Whether something waits for the reader. */
	readonly isStalled: () => boolean;
	/** Calls the listener each time the reader has caught up. */
	readonly onDrain: (listener: () => void) => void;
	/** Returns what was not written yet, and forgets it. */
	readonly takeRest: () => string;
};

export type SignalName = 'SIGTERM' | 'SIGINT' | 'SIGKILL';

/** Sends a signal to a process of this account, as it was seen, and to no other. */
export type SendSignal = (process: ProcessIdentity, signal: SignalName) => 'sent' | 'gone' | 'not-yours' | 'unknown';

/** Reads what the kernel knows of processes just now. Never rejects. */
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
	/** What one would type in a shell for the same, such as `canhazgpu reserve -g 2`. Of a line that was understood. */
	readonly inShell: (line: string) => string;
	/** Of a line that ends at the caret; out of what is known of the pool. */
	readonly complete: (
		line: string,
		seen: {
			readonly snapshot: Snapshot | undefined;
			readonly audit: readonly AuditEntry[];
			readonly readings?: readonly GpuReading[] | undefined;
		},
	) => Promise<Completion>;
};

/** Lines that were typed before, newest last. Never fails. */
export type LineHistory = {readonly load: () => readonly string[]; readonly add: (line: string) => void};

/** What a verb that was typed on another host printed there. */
export type HostAnswer = {readonly exitCode: number; readonly stdout: string; readonly stderr: string};

/** The other hosts. */
export type HostsPort = {
	/** Shows all that is known of them, and again whenever one answers, until the returned function is called. */
	readonly watch: (show: (known: readonly SeenHost[]) => void) => () => void;
	/** Asks one of them now. Rejects with a CanhazgpuError in words when it does not answer. */
	readonly ask: (host: string) => Promise<HostStatus>;
	/**
	Runs a verb there, by ssh and without a terminal, until it ends or `signal` is aborted.

	@throws CanhazgpuError When ssh fails, or no answer comes in time.
	*/
	readonly run: (
		host: string,
		words: readonly string[],
		options: {readonly signal?: AbortSignal | undefined; readonly isUnbounded: boolean},
	) => Promise<HostAnswer>;
	/** Runs the monitor of that host on our terminal, until it ends. Returns its exit code. */
	readonly openMonitor: (host: string) => Promise<number>;
};

/** What of the monitor's look is kept in the user's config. */
export type KeptView = {
	readonly preset: PresetName;
	/** Undefined: the usual ones. */
	readonly columns: readonly GpuColumnName[] | undefined;
	/** One row for each reservation, or one for each GPU. Undefined: as they fit on the screen. */
	readonly isFolded: boolean | undefined;
};

/**
Keeps it.

@throws CanhazgpuError for a config that cannot be written.
*/
export type SaveView = (view: KeptView) => Promise<{readonly file: string; readonly isChanged: boolean}>;

export type MonitorPorts = {
	readonly saveView?: SaveView;
	readonly hosts?: HostsPort;
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
	/** Who grants the GPUs, where that is not this program: jobs are ended by it then, and only as a whole. */
	readonly engine?: 'slurm';
	/** What that has no counterpart of: it is not offered. */
	readonly lacks?: ReadonlySet<Wish>;
	/** Shown once, at the start. */
	readonly notice?: string;
	readonly isReadonly: boolean;
	/** The hosts of the setting `remote_hosts`, without this one. */
	readonly otherHosts?: readonly string[];
	/** This computer has no pool: other hosts are all that is shown. */
	readonly hasNoPool?: boolean;
	readonly ports?: MonitorPorts;
	/** From the end of one scan to the next. 2000 unless said otherwise. */
	readonly scanIntervalMs?: number;
	readonly isAscii: boolean;
	readonly graphs?: GraphCharacters;
	/** What it begins with: the usual columns in the preset `default`, unless given. */
	readonly view?: Partial<KeptView>;
	/** Keys that were chosen in the place of the usual ones: what they do -> the keys. */
	readonly keys?: ReadonlyMap<string, readonly string[]>;
	/** `auto`: as the terminal says in COLORFGBG, else dark. */
	readonly theme?: ThemeName;
	/** Whether the mouse is listened to at the beginning, where there is one. Unless given, everywhere but in GNU screen. */
	readonly isMouseOn?: boolean;
	/** As NO_COLOR in the environment says, unless given. */
	readonly noColor?: boolean;
	/** A time of day from seconds since the epoch; the local time unless said otherwise. */
	readonly formatTime?: (seconds: number) => string;
	/** Opens the terminal for writing without waiting for its reader. Undefined where that cannot be done. */
	readonly openOutput?: (failed: (error: unknown) => void) => PatientOutput | undefined;
	readonly stdout?: NodeJS.WriteStream;
	readonly stdin?: NodeJS.ReadStream;
	readonly stderr?: NodeJS.WriteStream;
};
