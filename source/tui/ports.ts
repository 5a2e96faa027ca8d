/**
Functions that the monitor needs in addition to `World`, such as sending a signal to a process. The composition root provides them. If one is missing, the monitor says that the
feature is unavailable.
*/
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

/** Output that never blocks on its reader. */
export type PatientOutput = {
	readonly write: (text: string, written?: () => void) => void;
	/** Whether text is waiting for the reader. */
	readonly isStalled: () => boolean;
	/** Calls the listener each time the reader catches up. */
	readonly onDrain: (listener: () => void) => void;
	/** Returns the unwritten text, and clears it. */
	readonly takeRest: () => string;
};

export type SignalName = 'SIGTERM' | 'SIGINT' | 'SIGKILL';

/** Sends a signal to exactly this process of the same account. */
export type SendSignal = (process: ProcessIdentity, signal: SignalName) => 'sent' | 'gone' | 'not-yours' | 'unknown';

/** Reads the kernel's current facts about processes. Never rejects. */
export type InspectProcesses = (pids: readonly number[]) => Promise<FactsOfProcesses>;

export type LineOptions = {
	/** Aborted to leave the queue. */
	readonly signal: AbortSignal;
	/** Called with each change of the position in the queue. */
	readonly onWaiting: (words: string) => void;
	/** Called with the released GPUs. */
	readonly onReleased?: (released: readonly Holding[]) => void;
};

/** A completion of the last word of a line. */
export type Completion = {
	/** Index of the word's first character. */
	readonly start: number;
	readonly candidates: readonly string[];
};

/** A state of a live output. */
export type LiveOutputPage = {
	readonly lines: readonly string[];
	/** The text that Enter types for a line, by line index. */
	readonly opens?: ReadonlyMap<number, string>;
	/** The color of a line, by line index. Other lines are plain. */
	readonly tones?: ReadonlyMap<number, LiveOutputTone>;
};

export type LiveOutputTone = 'free' | 'others' | 'warning' | 'error';

/** Output that changes: `show` is called at once, and again after each change, until the returned function is called. */
export type LiveOutput = {readonly begin: (show: (page: LiveOutputPage) => void) => () => void};

export type CommandLine = {
	/**
	Runs a line such as `reserve -g 2 -d 4h`.

	@returns The printed lines.
	@throws CanhazgpuError with the message of the command line.
	*/
	readonly run: (line: string, options: LineOptions) => Promise<readonly string[]>;
	/**
	Returns the live output of a line, or undefined for a line to be run.

	@throws CanhazgpuError for an invalid line.
	*/
	readonly liveOutputOf?: (line: string) => LiveOutput | undefined;
	/** Returns the shell form of a valid line, such as `canhazgpu reserve -g 2`. */
	readonly inShell: (line: string) => string;
	/** Completes a line that ends at the caret from the known state of the pool. */
	readonly complete: (
		line: string,
		seen: {
			readonly snapshot: Snapshot | undefined;
			readonly audit: readonly AuditEntry[];
			readonly readings?: readonly GpuReading[] | undefined;
		},
	) => Promise<Completion>;
};

/** Typed lines, newest last. Never fails. */
export type LineHistory = {readonly load: () => readonly string[]; readonly add: (line: string) => void};

export type HostAnswer = {readonly exitCode: number; readonly stdout: string; readonly stderr: string};

export type HostsPort = {
	/** Calls `show` with everything known, and again after each answer, until the returned function is called. */
	readonly watch: (show: (known: readonly SeenHost[]) => void) => () => void;
	/** Asks one host now. Rejects with a CanhazgpuError if the host does not answer. */
	readonly ask: (host: string) => Promise<HostStatus>;
	/**
	Runs a command there by ssh, without a terminal, until it ends or `signal` is aborted.

	@throws CanhazgpuError when ssh fails or does not answer in time.
	*/
	readonly run: (
		host: string,
		words: readonly string[],
		options: {readonly signal?: AbortSignal | undefined; readonly isUnbounded: boolean},
	) => Promise<HostAnswer>;
	/** Runs the monitor of that host on this terminal. Returns its exit code. */
	readonly openMonitor: (host: string) => Promise<number>;
};

/** Settings of the view that are saved in the user's config. */
export type KeptView = {
	readonly preset: PresetName;
	/** Undefined for the default columns. */
	readonly columns: readonly GpuColumnName[] | undefined;
	/** Whether a reservation has one row instead of one for each GPU. Undefined to fit the screen. */
	readonly isFolded: boolean | undefined;
};

/** @throws CanhazgpuError if the config cannot be written. */
export type SaveView = (view: KeptView) => Promise<Saved>;

export type Saved = {readonly file: string; readonly isChanged: boolean};

/** Options that can change while the monitor runs. */
export type OptionValues = Pick<KeptView, 'preset' | 'columns'> & {
	readonly theme: ThemeName;
	readonly scanIntervalMs: number;
	readonly graphs: GraphCharacters;
	readonly isMouseOn: boolean;
};

/**
Saves options. Options that are left out stay as they are.

@throws CanhazgpuError if the config cannot be written.
*/
export type SaveOptions = (options: Partial<OptionValues>) => Promise<Saved>;

export type MonitorPorts = {
	readonly saveView?: SaveView;
	readonly saveOptions?: SaveOptions;
	/** Returns a provider that scans the GPUs at this interval. It can be the same provider for every interval. */
	readonly watchGpus?: (intervalMs: number) => Promise<GpuProvider>;
	readonly hosts?: HostsPort;
	readonly sendSignal?: SendSignal;
	readonly inspectProcesses?: InspectProcesses;
	readonly commandLine?: CommandLine;
	readonly lineHistory?: LineHistory;
	/** Whether the terminal is tmux, which needs escape sequences for the outer terminal to be wrapped. */
	readonly isInTmux?: boolean;
};

export type MonitorOptions = {
	readonly world: World;
	/** The GPUs to show. Defaults to the world's GPUs, which commands always scan. */
	readonly watchedGpus?: GpuProvider;
	readonly requester: Requester;
	readonly hostname: string;
	/** Text for the header, such as `PRIVATE pool`. */
	readonly poolLabel?: string;
	/** The scheduler that grants the GPUs instead of canhazgpu. It ends jobs, and only as a whole. */
	readonly engine?: 'slurm';
	/** Requests that the scheduler does not support. The monitor does not offer them. */
	readonly lacks?: ReadonlySet<Wish>;
	/** A message shown once at the start. */
	readonly notice?: string;
	readonly isReadonly: boolean;
	/** The hosts of the setting `remote_hosts`, without this one. */
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
	/** `auto` follows COLORFGBG and falls back to dark. */
	readonly theme?: ThemeName;
	/** Whether the mouse is enabled at the start. Defaults to true except in GNU screen. */
	readonly isMouseOn?: boolean;
	/** Defaults to NO_COLOR in the environment. */
	readonly noColor?: boolean;
	/** Formats seconds since the epoch as a time of day. Defaults to local time. */
	readonly formatTime?: (seconds: number) => string;
	/** Opens the terminal for writes that do not block. Undefined where that is not possible. */
	readonly openOutput?: (failed: (error: unknown) => void) => PatientOutput | undefined;
	readonly stdout?: NodeJS.WriteStream;
	readonly stdin?: NodeJS.ReadStream;
	readonly stderr?: NodeJS.WriteStream;
};
