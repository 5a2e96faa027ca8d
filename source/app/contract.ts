/** The contract between the composition root and the commands, which never choose the store themselves. */
import type {Socket} from 'node:net';
import type {PoolMade, PoolRequest} from '../core/operations/pool/create-pool.js';
import type {Holding} from '../core/rules/leases/holdings.js';
import type {DeviceHolders} from '../core/model/device-holders.js';
import type {EnvironmentFacts} from '../core/model/environment.js';
import type {GrantedGpu, Isolate, IsolationCheck} from '../core/model/isolation.js';
import type {BindToNodes} from '../core/model/numa.js';
import type {Clock, GpuProvider, Host, World} from '../core/model/ports.js';
import type {Engine} from '../core/operations/engine.js';
import type {Reminder} from '../core/operations/reminders.js';
import type {FactsOfProcesses, ProviderName, Requester} from '../core/model/types.js';
import type {Paint} from '../format/text/paint.js';
import type {Job, JobOptions} from '../host/job/job.js';
import type {sendSignal} from '../host/process/send-signal.js';
import type {Patience} from '../host/tool/answering-host.js';
import type {RemoteCall, RemoteCommand} from '../host/tool/remote-command.js';
import type {PatientOutput} from '../host/patient-output.js';
import type {LineHistory} from './user-file.js';

export type {Patience} from '../host/tool/answering-host.js';
export type {Job, JobOptions} from '../host/job/job.js';

/** An open pool, with everything the core's operations need. */
export type OpenWorld = World & {
	/** Set if only this user sees the pool. Every interface shows the label. */
	readonly privateLabel?: string;
	readonly notice?: string;
	/** The engine, if another program grants the GPUs. Every interface names it. */
	readonly engine?: Engine;
	/** Replaces inspection and signaling of real processes when processes are simulated. */
	readonly simulatedProcesses?: Pick<App, 'inspectProcesses' | 'sendSignal'>;
	/** Returns a provider for interfaces that show GPUs continuously. One of them scans every `intervalMs` for all. */
	readonly watchGpus: (intervalMs: number) => Promise<GpuProvider>;
	/** Finds the processes that have a device of this GPU open, and describes them. Never rejects. */
	readonly findDeviceHolders: (gpu: GrantedGpu, pids: readonly number[]) => Promise<DeviceHolders>;
	readonly prepareIsolation: () => Promise<Isolate>;
	readonly prepareNumaBinding: () => Promise<BindToNodes>;
	readonly close: () => Promise<void>;
};

export type OpenOptions = {
	/** Starts scanning the GPUs at once, while the store is being opened. */
	readonly willScan?: boolean;
	/** Additional details to read, which can take long: MIG instances, or everything that the tool reports. */
	readonly details?: 'parts' | 'all';
	/** Makes the store reconnect after outages instead of failing, for long-running commands. */
	readonly keepReconnecting?: boolean;
	readonly canMakePrivate?: boolean;
	readonly isDemo?: boolean;
	/** Opens no pool and no GPUs, for an interface that only shows other hosts. */
	readonly isEmpty?: boolean;
};

export type PoolLocation = {
	readonly location: string;
	readonly privateLabel?: string;
	/** Sentences for the user about what was repaired to make the location safe. */
	readonly repairs: readonly string[];
	readonly make: (request: PoolRequest) => Promise<PoolMade & {readonly warning?: string}>;
	readonly close: () => Promise<void>;
};

/** Ctrl-C, SIGTERM and SIGHUP during a wait. They do not kill this process until `end` is called. */
export type Interruption = {
	readonly signal: AbortSignal;
	/** Returns 128 plus the number of the signal. */
	readonly exitCode: () => number;
	readonly end: () => void;
};

export type Detected =
	/** `others`: further kinds of GPUs in this machine. */
	| {readonly provider: ProviderName; readonly gpuCount: number; readonly others: readonly ProviderName[]}
	| {readonly provider: undefined; readonly reason: string};

export type PreparedCuda = {
	readonly environment: Readonly<Record<string, string>>;
	readonly warning: string | undefined;
};

export type HostRun = {
	readonly exitCode: number;
	/** Whether the host answered. Undefined when ssh does not tell. */
	readonly hasAnswered: boolean | undefined;
	/** Why the connection was given up, as a sentence. */
	readonly problem: string | undefined;
};

export type App = {
	readonly host: Host;
	readonly clock: Clock;
	/** Returns who is asking. Call `open` first: inside an isolated job, only the pool knows the account. */
	readonly requester: (label: string | undefined) => Requester;
	readonly open: (options?: OpenOptions) => Promise<OpenWorld>;
	readonly foreignEngine: () => Promise<Engine | undefined>;
	readonly openPoolLocation: () => Promise<PoolLocation>;
	/** Detects the provider of this box and counts its GPUs. `fake` is found only when `wanted` names it. */
	readonly detect: (wanted: ProviderName | undefined) => Promise<Detected>;
	readonly paint: Paint;
	/** Prints the requested output on stdout. `done` says what was done, and goes to stderr if nobody can read stdout. */
	readonly print: (text: string, done?: string) => void;
	readonly remark: (text: string) => void;
	/** Prints on stderr without waiting for the reader, so that a wait in the queue goes on while stderr is blocked. */
	readonly progress: (text: string) => void;
	/** Opens stdout for writes that never wait for the reader. `failed` gets the error when the reader has gone. */
	readonly openPatientOutput: (failed: (error: unknown) => void) => PatientOutput | undefined;
	readonly isTerminal: boolean;
	/** Undefined if unknown, as in a pipe. */
	readonly columns: number | undefined;
	/** Stderr, if it is a terminal on which a line can be redrawn. */
	readonly liveErrors: {readonly write: (text: string) => void; readonly columns: () => number} | undefined;
	/** Gets the progress of a wait in the queue when stderr does not show it. */
	readonly onWaiting?: (words: string) => void;
	/** Gets the released reservations that can still be restored. */
	readonly onReleased?: (released: readonly Holding[]) => void;
	readonly environment: Readonly<Record<string, string | undefined>>;
	/** Rejects after 10 s or when `signal` is aborted. */
	readonly remoteStatus: (
		host: string,
		signal?: AbortSignal,
	) => Promise<ReadonlyArray<Readonly<Record<string, unknown>>>>;
	/**
	Calls `onStatus` after each change on another host, and at least every few seconds, until `signal` is aborted. Resolves with `unsupported` if
	that host's version cannot do this. Rejects when the connection ends.
	*/
	readonly followHost: (
		host: string,
		onStatus: (status: {
			readonly rows: ReadonlyArray<Readonly<Record<string, unknown>>>;
			/** The name of our account on that host. */
			readonly account: string | undefined;
			readonly waitingCount: number | undefined;
		}) => void,
		signal: AbortSignal,
	) => Promise<'unsupported'>;
	/** Rejects after 10 s. */
	readonly remoteReport: (host: string, days: number, by: string) => Promise<Readonly<Record<string, unknown>>>;
	/** Rejects after 10 s or when `signal` is aborted. */
	readonly remoteQueue: (
		host: string,
		signal?: AbortSignal,
	) => Promise<{readonly entries: ReadonlyArray<Readonly<Record<string, unknown>>>}>;
	/**
	Runs this program on another host by ssh, on our terminal. Signals reach the remote command, which ends with the connection. If the host does
	not answer within a few seconds, a line on stderr names the host. Resolves with the exit code, which is also 255 if ssh fails or `patience` runs
	out. Rejects with a CanhazgpuError if ssh cannot be started.
	*/
	readonly runOnHost: (
		command: Omit<RemoteCommand, 'hasTerminal' | 'announces'>,
		patience: Patience,
	) => Promise<HostRun>;
	/**
	Runs this program on another host by ssh without a terminal, and returns the output. Rejects with a CanhazgpuError if ssh fails, or after 30 s
	without an answer. A call that `isUnbounded` lasts until `signal` is aborted.
	*/
	readonly callOnHost: (
		call: RemoteCall,
	) => Promise<{readonly exitCode: number; readonly stdout: string; readonly stderr: string}>;
	readonly interruption: () => Interruption;
	/** Creates or finds a directory of mode 0700 that no other account can reach or replace. */
	readonly openPrivateDirectory: () => Promise<string>;
	/**
	Returns a check whether this account is at the other end of a local socket. The check returns true if the kernel does not report the peer, so
	that only the socket's permissions protect it.
	*/
	readonly loadCallerCheck: () => Promise<(socket: Socket) => boolean>;
	/** Keeps this process alive after uncaught errors and passes each error to `report`. */
	readonly outliveBugs: (report: (error: unknown) => void) => void;
	/** Loads the modules that are needed later, before an upgrade can remove their files. Never rejects. */
	readonly loadAhead: () => Promise<void>;
	readonly inspectProcesses: (pids: readonly number[]) => Promise<FactsOfProcesses>;
	/** Signals a process of this account if it is still the process that was seen. */
	readonly sendSignal: typeof sendSignal;
	readonly lineHistory: LineHistory;
	/** Returns a sentence for each way that failed, within seconds. Never rejects. */
	readonly notify: (reminder: Reminder, signal?: AbortSignal) => Promise<readonly string[]>;
	/** Whether the configuration has a way to notify every account, not only those whose terminals we can write to. */
	readonly notifiesAll: boolean;
	/** Finds a part of this program that other accounts cannot read, and returns it with the installation directory. */
	readonly closedProgram: () => {readonly part: string; readonly directory: string} | undefined;
	/** Checks this process for things most programs rely on, such as a home directory. Never rejects. */
	readonly readEnvironment: () => Promise<EnvironmentFacts>;
	/** Never rejects. */
	readonly checkIsolation: () => Promise<IsolationCheck>;
	/** Finds a CUDA version such as `12.4`. Rejects with a CanhazgpuError `impossible` that lists the installed ones. */
	readonly prepareCuda: (version: string) => Promise<PreparedCuda>;
	readonly findMpsDaemon: () => Promise<{readonly directory: string; readonly isRunning: boolean}>;
	/**
	Prepares a command and returns the function that starts it. The start is synchronous, so no signal can arrive between the caller's last check
	and the start. With `later`, this process takes the caller's limit of open files in the meantime, and the command inherits it. Rejects with a
	CanhazgpuError of exit code 127 or 126 if the PATH of `environment` has no such command.
	*/
	readonly prepareJob: (
		words: readonly [command: string, ...args: readonly string[]],
		environment: Readonly<Record<string, string | undefined>>,
		when: 'now' | 'later',
	) => Promise<(options: JobOptions) => Promise<Job>>;
};
