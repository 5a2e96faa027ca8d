/** What the composition root gives to commands: they ask for an open pool and never choose how it is kept. */
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

/** A pool that is open, with everything the core's verbs need. */
export type OpenWorld = World & {
	/** Set when only this user sees the pool: every face says so. */
	readonly privateLabel?: string;
	/** Set when the pool was just made on the way. */
	readonly notice?: string;
	/** Who grants the GPUs, where that is not this program itself: every face says so. */
	readonly engine?: Engine;
	/** Set where processes are simulated: what the kernel of this machine would tell of them, and how they are signalled. */
	readonly simulatedProcesses?: Pick<App, 'inspectProcesses' | 'sendSignal'>;
	/**
	The GPUs for a face that shows them all the time, this long from scan to scan: of all such faces one scans, for the others too.
	`gpus` scans for those who act.
	*/
	readonly watchGpus: (intervalMs: number) => Promise<GpuProvider>;
	/** Who has a device of this GPU open, and what the kernel tells of these processes. Never rejects. */
	readonly findDeviceHolders: (gpu: GrantedGpu, pids: readonly number[]) => Promise<DeviceHolders>;
	/** What isolates a job. It is loaded ahead, too, for those who wait. */
	readonly prepareIsolation: () => Promise<Isolate>;
	/** What binds a job to NUMA nodes; loaded as that is. */
	readonly prepareNumaBinding: () => Promise<BindToNodes>;
	readonly close: () => Promise<void>;
};

export type OpenOptions = {
	/** The verb will scan the GPUs: the scan begins at once, beside everything else. */
	readonly willScan?: boolean;
	/** What the GPUs are asked for besides, which may take long: their parts, where MIG has split them; or all that the tool knows. */
	readonly details?: 'parts' | 'all';
	/** Stays through outages of the store instead of failing: for what runs long. */
	readonly keepReconnecting?: boolean;
	/** Makes a private pool where there is none at all. */
	readonly canMakePrivate?: boolean;
	/** A pool in memory with simulated GPUs, for looking around. */
	readonly isDemo?: boolean;
	/** No pool and no GPUs, for a face that shows other hosts alone. */
	readonly isEmpty?: boolean;
};

export type PoolLocation = {
	/** Where `admin` makes the pool. */
	readonly location: string;
	readonly privateLabel?: string;
	/** What was done to make it safe, in sentences for the user. */
	readonly repairs: readonly string[];
	readonly make: (request: PoolRequest) => Promise<PoolMade & {readonly warning?: string}>;
	readonly close: () => Promise<void>;
};

/** Ctrl-C, SIGTERM and SIGHUP while something is waited for. Until its end they do not kill this process. */
export type Interruption = {
	/** Aborted by the first of them. */
	readonly signal: AbortSignal;
	/** 128 and the number of the signal that came. */
	readonly exitCode: () => number;
	readonly end: () => void;
};

/** What GPUs this box has, or why none were found. */
export type Detected =
	/** `others`: kinds of GPUs that this machine has besides. */
	| {readonly provider: ProviderName; readonly gpuCount: number; readonly others: readonly ProviderName[]}
	| {readonly provider: undefined; readonly reason: string};

/** What a job is given to use an installation of CUDA. */
export type PreparedCuda = {
	/** To be put over the environment of the job. */
	readonly environment: Readonly<Record<string, string>>;
	/** What to say of it before the job starts. */
	readonly warning: string | undefined;
};

/** How a command on another host ended. */
export type HostRun = {
	readonly exitCode: number;
	/** Whether the host answered, as far as that is known. */
	readonly hasAnswered: boolean | undefined;
	/** Why its connection was given up, in words. */
	readonly problem: string | undefined;
};

/** What the composition root gives to commands. */
export type App = {
	readonly host: Host;
	readonly clock: Clock;
	/** Who asks. To be called once the pool is open, which tells who it is that asks from an isolated job. */
	readonly requester: (label: string | undefined) => Requester;
	readonly open: (options?: OpenOptions) => Promise<OpenWorld>;
	/** The engine that `open` would speak to, where that is not the local one. It is found once. */
	readonly foreignEngine: () => Promise<Engine | undefined>;
	/** Where a new pool would be made, by configuration. */
	readonly openPoolLocation: () => Promise<PoolLocation>;
	/** The provider of this box and its GPUs, or why none was found; `fake` is never found by itself. */
	readonly detect: (wanted: ProviderName | undefined) => Promise<Detected>;
	readonly paint: Paint;
	/**
	Prints lines on stdout: only what was asked for.

	@param done - What was done even if nobody can read the lines. It is said on stderr then.
	*/
	readonly print: (text: string, done?: string) => void;
	/** Prints lines on stderr: remarks. */
	readonly remark: (text: string) => void;
	/** Prints lines on stderr without waiting for a reader, for what is done meanwhile must go on: a wait in the queue. */
	readonly progress: (text: string) => void;
	/** Opens stdout for writing without waiting for its reader; undefined where that cannot be done. `failed` gets the error of a reader that has gone. */
	readonly openPatientOutput: (failed: (error: unknown) => void) => PatientOutput | undefined;
	readonly isTerminal: boolean;
	/** How wide stdout is; undefined where that is not known, as in a pipe. */
	readonly columns: number | undefined;
	/** Stderr, when it is a terminal on which a line may be redrawn. */
	readonly liveErrors: {readonly write: (text: string) => void; readonly columns: () => number} | undefined;
	/** Gets how the wait in the queue goes, where that is not shown on stderr. */
	readonly onWaiting?: (words: string) => void;
	/** Called with what was given back, where that can be taken back for a while. */
	readonly onReleased?: (released: readonly Holding[]) => void;
	readonly environment: Readonly<Record<string, string | undefined>>;
	/** The rows of another host's `status --json`, within 10 s or until `signal` is aborted; rejects with a CanhazgpuError in words. */
	readonly remoteStatus: (
		host: string,
		signal?: AbortSignal,
	) => Promise<ReadonlyArray<Readonly<Record<string, unknown>>>>;
	/**
	Follows the status of another host until `signal` is aborted: `onStatus` is called whenever something changed there, at least every few seconds.
	Resolves with `unsupported` where that version cannot; rejects with a CanhazgpuError in words when it ends otherwise.
	*/
	readonly followHost: (
		host: string,
		onStatus: (status: {
			readonly rows: ReadonlyArray<Readonly<Record<string, unknown>>>;
			/** The account that the host knows us by. */
			readonly account: string | undefined;
			readonly waitingCount: number | undefined;
		}) => void,
		signal: AbortSignal,
	) => Promise<'unsupported'>;
	/** `report --json` of another host, within 10 s; rejects with a CanhazgpuError in words. */
	readonly remoteReport: (host: string, days: number, by: string) => Promise<Readonly<Record<string, unknown>>>;
	/** The entries of another host's `queue --json`, within 10 s or until `signal` is aborted; rejects with a CanhazgpuError in words. */
	readonly remoteQueue: (
		host: string,
		signal?: AbortSignal,
	) => Promise<{readonly entries: ReadonlyArray<Readonly<Record<string, unknown>>>}>;
	/**
	Runs this program on another host by ssh, as if it had been typed there: it shares our terminal, signals reach it, and the connection's end is
	its end. A host that does not answer is named on stderr after a few seconds. Resolves with the exit code: 255 also where ssh fails, or the
	`patience` runs out. Rejects with a CanhazgpuError where ssh cannot be started.
	*/
	readonly runOnHost: (
		command: Omit<RemoteCommand, 'hasTerminal' | 'announces'>,
		patience: Patience,
	) => Promise<HostRun>;
	/**
	Runs this program on another host by ssh, as if it had been typed there without a terminal, and collects what it prints. Rejects with a
	CanhazgpuError in words where ssh fails, and where no answer came within 30 s unless it `isUnbounded`: then it lasts until `signal` is aborted.
	*/
	readonly callOnHost: (
		call: RemoteCall,
	) => Promise<{readonly exitCode: number; readonly stdout: string; readonly stderr: string}>;
	readonly interruption: () => Interruption;
	/**
	Makes or finds a directory of mode 0700 for what only this account may reach, such as a socket.

	@throws CanhazgpuError `failed` where another account could reach or replace it.
	*/
	readonly openPrivateDirectory: () => Promise<string>;
	/**
	Tells whether this very account is at the other end of a local socket. Where the kernel cannot be asked, the permissions of the socket alone
	decide, and it answers true.
	*/
	readonly loadCallerCheck: () => Promise<(socket: Socket) => boolean>;
	/** Keeps this process alive, from now on, when an error is not caught; `report` is given each. */
	readonly outliveBugs: (report: (error: unknown) => void) => void;
	/**
	Loads whatever a long wait or a long job may need later, because an upgrade may remove the files of this program meanwhile. Until then it costs
	nothing. Never rejects.
	*/
	readonly loadAhead: () => Promise<void>;
	/** What the kernel tells of processes just now. Never rejects. */
	readonly inspectProcesses: (pids: readonly number[]) => Promise<FactsOfProcesses>;
	/** To a process of this very account, as it was seen, and to no other. */
	readonly sendSignal: typeof sendSignal;
	/** What this user typed into the monitor's command line, newest last. Never fails. */
	readonly lineHistory: LineHistory;
	/**
	Tells an account something, on its terminals and by what the config names. Never rejects; answers within seconds what went wrong, in words.
	Given up when `signal` is aborted.
	*/
	readonly notify: (reminder: Reminder, signal?: AbortSignal) => Promise<readonly string[]>;
	/** Whether the config names a way that reaches every account, and not only those whose terminals are ours. */
	readonly notifiesAll: boolean;
	/** What of this program other accounts may not read, if anything, and the directory that it was installed in. */
	readonly closedProgram: () => {readonly part: string; readonly directory: string} | undefined;
	/** Reads what this process lacks of what most programs take for granted. Never rejects. */
	readonly readEnvironment: () => Promise<EnvironmentFacts>;
	/** Whether this machine can isolate jobs at all, and by what. Never rejects. */
	readonly checkIsolation: () => Promise<IsolationCheck>;
	/** Finds an installation of that version, such as `12.4`. Rejects with a CanhazgpuError `not-found` that says what there is. */
	readonly prepareCuda: (version: string) => Promise<PreparedCuda>;
	/** The MPS daemon of this account, as far as one runs. Never rejects. */
	readonly findMpsDaemon: () => Promise<{readonly directory: string; readonly isRunning: boolean}>;
	/** Says that nothing goes on once the verb has its exit code: this process ends then at once. */
	readonly endWithVerb: () => void;
	/**
	Gives what starts such a command later, at once: between a check for signals and the start no signal can come. Where that is not yet, this process
	takes the caller's limit of open files meanwhile, which the command inherits then. Rejects with a CanhazgpuError of exit code 127 or 126 when
	there is no such command to run in the PATH of `environment`.
	*/
	readonly prepareJob: (
		words: readonly [command: string, ...args: readonly string[]],
		environment: Readonly<Record<string, string | undefined>>,
		when: 'now' | 'later',
	) => Promise<(options: JobOptions) => Promise<Job>>;
};
