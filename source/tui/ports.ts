/**
Functions that the monitor needs in addition to `World` (the store, the GPUs and the clock), such as sending a signal to a process. The command `top`
provides them. If a function is missing, the monitor says that the feature is unavailable.
*/
import type {JobRow} from '../core/rules/jobs/rows.js';
import type {Holding} from '../core/rules/leases/holdings.js';
import type {AcquireRequest, Grant} from '../core/rules/request/request.js';
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
import type {KnownHost} from '../core/live/host-watch.js';
import type {GpuProvider, World} from '../core/model/ports.js';
import type {Wish} from '../core/operations/engine.js';

/** An output for writes that never wait for the reader. */
export type PatientOutput = {
	readonly write: (text: string, written?: () => void) => void;
	/** Whether there is text that the reader has not yet read. */
	readonly isStalled: () => boolean;
	/** Calls the listener each time the reader has read everything. */
	readonly onDrain: (listener: () => void) => void;
	/** Removes and returns the text that has not been written yet. */
	readonly takeRest: () => string;
};

export type SignalName = 'SIGTERM' | 'SIGINT' | 'SIGKILL';

/** Sends a signal to exactly this process, which must belong to the same account. */
export type SendSignal = (process: ProcessIdentity, signal: SignalName) => 'sent' | 'gone' | 'not-yours' | 'unknown';

/** Asks the kernel for current facts about processes. Never rejects. */
export type InspectProcesses = (pids: readonly number[]) => Promise<FactsOfProcesses>;

export type LineOptions = {
	/** Aborted to cancel a request that waits in the queue. */
	readonly signal: AbortSignal;
	readonly onWaiting: (words: string) => void;
	readonly onReleased?: (released: readonly Holding[]) => void;
};

/** The possible completions of the last word of a line. */
export type Completion = {
	/** The index of the word's first character. */
	readonly start: number;
	readonly candidates: readonly string[];
};

/** The content of an output that updates itself, at one moment. */
export type LiveOutputPage = {
	readonly lines: readonly string[];
	/** The command lines that Enter runs when a line is chosen, by the index of that line. */
	readonly opens?: ReadonlyMap<number, string>;
	/** The colors of lines, by the index of the line. Other lines are plain. */
	readonly tones?: ReadonlyMap<number, LiveOutputTone>;
	/** Whether the output is first shown at its end. While the last line is in view, the output scrolls to new lines. */
	readonly isTail?: boolean;
};

export type LiveOutputTone = 'free' | 'others' | 'warning' | 'error';

/** An output that updates itself. `begin` calls `show` at once and after each change, and returns a function that stops these calls. */
export type LiveOutput = {readonly begin: (show: (page: LiveOutputPage) => void) => () => void};

export type CommandLine = {
	/** Runs a command line such as `reserve -g 2 -d 4h`. Returns the lines that it printed. Throws a CanhazgpuError with the message of the command. */
	readonly run: (line: string, options: LineOptions) => Promise<readonly string[]>;
	/** Returns the output of a line if it updates itself. Undefined for a line that `run` must run. Throws a CanhazgpuError for an invalid line. */
	readonly liveOutputOf?: (line: string) => LiveOutput | undefined;
	/** Returns how a valid line is typed in a shell, such as `canhazgpu reserve -g 2`. */
	readonly inShell: (line: string) => string;
	/** Completes a line that ends at the cursor. Uses what the monitor already knows about the pool. */
	readonly complete: (
		line: string,
		seen: {
			readonly snapshot: Snapshot | undefined;
			readonly audit: readonly AuditEntry[];
			readonly readings?: readonly GpuReading[] | undefined;
		},
	) => Promise<Completion>;
};

/** The lines that were typed earlier, newest last. Reading and adding never fail. */
type LineHistory = {readonly load: () => readonly string[]; readonly add: (line: string) => void};

export type HostAnswer = {readonly exitCode: number; readonly stdout: string; readonly stderr: string};

/** A host that has answered or failed at least once. */
export type SeenHost = KnownHost<HostStatus>;

export type HostsPort = {
	/** Calls `show` at once and after each answer with everything that is known about the other hosts. The returned function stops these calls. */
	readonly watch: (show: (known: readonly SeenHost[]) => void) => () => void;
	/** Asks one host now, without waiting for the interval. Rejects with a CanhazgpuError if the host does not answer. */
	readonly ask: (host: string) => Promise<HostStatus>;
	/** Runs a command on a host by ssh, without a terminal. Aborting `signal` ends it. Throws a CanhazgpuError if ssh fails or times out. */
	readonly run: (
		host: string,
		words: readonly string[],
		options: {readonly signal?: AbortSignal | undefined; readonly isUnbounded: boolean},
	) => Promise<HostAnswer>;
	/** Runs the monitor of a host in this terminal. Returns the exit code. */
	readonly openMonitor: (host: string) => Promise<number>;
};

/** Settings of the table that are saved in the user's config. */
export type KeptView = {
	readonly preset: PresetName;
	/** Undefined for the default columns. */
	readonly columns: readonly GpuColumnName[] | undefined;
	/** Whether a reservation has one row, instead of a row for each GPU. If undefined, this depends on the size of the screen. */
	readonly isFolded: boolean | undefined;
};

/** Saves settings of the table. Throws a CanhazgpuError if the config cannot be written. */
export type SaveView = (view: KeptView) => Promise<Saved>;

export type Saved = {readonly file: string; readonly isChanged: boolean};

/** The options that can be changed while the monitor runs. */
export type OptionValues = Pick<KeptView, 'preset' | 'columns'> & {
	readonly theme: ThemeName;
	readonly scanIntervalMs: number;
	readonly graphs: GraphCharacters;
	readonly isMouseOn: boolean;
};

/** Saves options. Omitted options keep their saved value. Throws a CanhazgpuError if the config cannot be written. */
export type SaveOptions = (options: Partial<OptionValues>) => Promise<Saved>;

type JobsPort = {
	/** Returns everybody's jobs that wait, run, or ended during the last day. Throws a CanhazgpuError if they cannot be read. */
	readonly read: () => Promise<readonly JobRow[]>;
};

export type MonitorPorts = {
	readonly saveView?: SaveView;
	readonly saveOptions?: SaveOptions;
	/** Returns a provider that scans the GPUs at this interval. May return the same provider for several intervals. */
	readonly watchGpus?: (intervalMs: number) => Promise<GpuProvider>;
	readonly hosts?: HostsPort;
	readonly jobs?: JobsPort;
	readonly sendSignal?: SendSignal;
	readonly inspectProcesses?: InspectProcesses;
	/** Notifies the user that GPUs were granted after a wait, because the user may not be watching. Never rejects. */
	readonly notifyGranted?: (request: AcquireRequest, grant: Grant) => Promise<void>;
	readonly commandLine?: CommandLine;
	readonly lineHistory?: LineHistory;
	/** Whether the terminal is tmux. Tmux passes an escape sequence to the outer terminal only if the sequence is wrapped. */
	readonly isInTmux?: boolean;
};

export type MonitorOptions = {
	readonly world: World;
	/** The provider whose GPU readings are shown. Defaults to the provider in `world`. Commands always use the provider in `world`. */
	readonly watchedGpus?: GpuProvider;
	readonly requester: Requester;
	readonly hostname: string;
	/** A text for the header, such as `PRIVATE pool`. */
	readonly poolLabel?: string;
	/** The scheduler that grants the GPUs instead of canhazgpu. It can only end whole jobs. */
	readonly engine?: 'slurm';
	/** The kinds of requests that the scheduler does not support. The monitor does not offer them. */
	readonly lacks?: ReadonlySet<Wish>;
	/** A message that is shown once, when the monitor starts. */
	readonly notice?: string;
	readonly isReadonly: boolean;
	/** The hosts of the setting `remote_hosts`, except this host. */
	readonly otherHosts?: readonly string[];
	/** Whether this machine has no pool, so that only other hosts are shown. */
	readonly hasNoPool?: boolean;
	readonly ports?: MonitorPorts;
	/** Milliseconds between scans. Defaults to 2000. */
	readonly scanIntervalMs?: number;
	readonly isAscii: boolean;
	readonly graphs?: GraphCharacters;
	/** The initial view. Defaults to the usual columns in the preset `default`. */
	readonly view?: Partial<KeptView>;
	/** Custom keys: maps actions to keys. */
	readonly keys?: ReadonlyMap<string, readonly string[]>;
	/** The theme. `auto` depends on COLORFGBG, and is dark if COLORFGBG is not set. */
	readonly theme?: ThemeName;
	/** Whether the mouse is enabled at the start. Defaults to true except in GNU screen. */
	readonly isMouseOn?: boolean;
	/** Whether to use no colors. By default, this depends on NO_COLOR in the environment. */
	readonly noColor?: boolean;
	/** Formats seconds since the epoch as a time of day. By default in local time. */
	readonly formatTime?: (seconds: number) => string;
	/** Opens the terminal for writes that never wait for the reader. Returns undefined if that is not possible. */
	readonly openOutput?: (failed: (error: unknown) => void) => PatientOutput | undefined;
	/** Stops messages of other programs to the terminal, which would spoil the screen. Returns a function that allows them again. */
	readonly refuseMessages?: () => () => void;
	readonly stdout?: NodeJS.WriteStream;
	readonly stdin?: NodeJS.ReadStream;
	readonly stderr?: NodeJS.WriteStream;
};
