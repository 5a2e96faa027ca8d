/** The contract between the commands and app.ts, which chooses the store and the GPU provider for them. */
import type {Socket} from 'node:net';
import type {PoolMade, PoolRequest} from '../core/operations/pool/create-pool.js';
import type {Holding} from '../core/rules/leases/holdings.js';
import type {NamedLimit} from '../core/rules/policy/limit-keys.js';
import type {DeviceHolders} from '../core/model/device-holders.js';
import type {EnvironmentFacts} from '../core/model/environment.js';
import type {GrantedGpu, Isolate, IsolationCheck} from '../core/model/isolation.js';
import type {BindToNodes} from '../core/model/numa.js';
import type {OwnLimits} from '../core/model/other-hosts.js';
import type {Delivery} from '../core/model/notice-request.js';
import type {Clock, GpuProvider, Host, World} from '../core/model/ports.js';
import type {Engine} from '../core/operations/engine.js';
import type {TargetCheck} from '../core/rules/notices/diagnosis.js';
import type {NoticePreferences} from '../core/rules/notices/events.js';
import type {ReminderSender} from '../core/rules/notices/reminder.js';
import type {FactsOfProcesses, ProviderName, Requester} from '../core/model/types.js';
import type {Move} from '../format/moved-pool.js';
import type {Notice} from '../format/notices/notice.js';
import type {Paint} from '../format/text/paint.js';
import type {Job, JobOptions} from '../host/job/job.js';
import type {startDetached} from '../host/job/detach.js';
import type {endOrphan} from '../host/job/end-orphan.js';
import type {OpenedLog} from '../host/job/job-log.js';
import type {LogoutSurvival} from '../host/job/logout.js';
import type {sendSignal} from '../host/process/send-signal.js';
import type {Patience} from '../host/tool/answering-host.js';
import type {RemoteCall, RemoteCommand} from '../host/tool/remote-command.js';
import type {PatientOutput} from '../host/patient-output.js';
import type {LineHistory} from './user-file.js';

export type {Patience} from '../host/tool/answering-host.js';
export type {OpenedLog} from '../host/job/job-log.js';
export type {Job, JobEnd, JobOptions} from '../host/job/job.js';

export type OpenWorld = World & {
	/** Set if only this user sees the pool. The monitor, the dashboard and the commands show this label. */
	readonly privateLabel?: string;
	readonly notice?: string;
	/** The engine, if another program such as Slurm grants the GPUs. The monitor, the dashboard and the commands name the engine. */
	readonly engine?: Engine;
	/** Functions for simulated processes, set in a simulation. They replace the functions for real processes. */
	readonly simulatedProcesses?: Pick<App, 'inspectProcesses' | 'sendSignal'>;
	/** Returns a provider for monitors and dashboards. One of them scans every `intervalMs` and shares its scans with the others. */
	readonly watchGpus: (intervalMs: number) => Promise<GpuProvider>;
	/** Finds the processes among `pids` that have a device of this GPU open, and describes them. Never rejects. */
	readonly findDeviceHolders: (gpu: GrantedGpu, pids: readonly number[]) => Promise<DeviceHolders>;
	readonly prepareIsolation: () => Promise<Isolate>;
	readonly prepareNumaBinding: () => Promise<BindToNodes>;
	readonly close: () => Promise<void>;
};

export type OpenOptions = {
	/** Whether to start scanning the GPUs at once, while the store is being opened. */
	readonly willScan?: boolean;
	/** Additional details to read, which can take long: `parts` for MIG instances, `all` for everything that the GPU tool reports. */
	readonly details?: 'parts' | 'all';
	/** Whether the store reconnects after outages instead of failing. Set for long-running commands. */
	readonly keepReconnecting?: boolean;
	readonly canMakePrivate?: boolean;
	readonly isDemo?: boolean;
	/** Whether to open no pool and no GPUs. Set for a monitor that only shows other hosts. */
	readonly isEmpty?: boolean;
};

export type PoolLocation = {
	readonly location: string;
	readonly privateLabel?: string;
	/** Sentences for the user about what was repaired to make the location safe. */
	readonly repairs: readonly string[];
	/** Whether `--group` has changed who can use an existing pool. */
	readonly hasNewGroup: boolean;
	/** Creates the pool. If the pool has moved, `moved` has its former location and the settings that it had there. */
	readonly make: (request: PoolRequest) => Promise<PoolMade & {readonly moved?: Move; readonly warning?: string}>;
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
	| {readonly provider: ProviderName; readonly gpuCount: number; readonly others: readonly ProviderName[]}
	| {readonly provider: undefined; readonly reason: string};

export type PreparedCuda = {
	readonly environment: Readonly<Record<string, string>>;
	readonly warning: string | undefined;
};

export type HostRun = {
	readonly exitCode: number;
	/** Whether the host answered. Undefined if ssh does not report this. */
	readonly hasAnswered: boolean | undefined;
	readonly problem: string | undefined;
};

export type NamedDelivery = {readonly name: string; readonly delivery: Delivery};

/** The targets of notices. Names identify the targets, because URLs can contain secrets. */
export type Notices = {
	readonly sender: Pick<ReminderSender, 'reachesAll' | 'own' | 'others'>;
	readonly settings: NoticePreferences & {readonly targets: readonly string[]};
	readonly test: () => Promise<readonly NamedDelivery[]>;
	readonly checks: () => readonly TargetCheck[];
};

export type App = {
	readonly host: Host;
	readonly clock: Clock;
	/** Returns the account that makes the request. Call `open` first: inside an isolated job, only the pool knows the account. */
	readonly requester: (label: string | undefined) => Requester;
	readonly open: (options?: OpenOptions) => Promise<OpenWorld>;
	readonly foreignEngine: () => Promise<Engine | undefined>;
	/**
	Repairs an existing pool in a file, records it again, and changes who can use it. Undefined if there is none, or nothing to change. `isGroupAsked` is
	whether `--group` was given.
	*/
	readonly adjustPool: (
		isGroupAsked: boolean,
	) => Promise<(PoolMade & Pick<PoolLocation, 'location' | 'repairs'>) | undefined>;
	readonly openPoolLocation: () => Promise<PoolLocation>;
	/** Detects the GPU provider of this machine and counts the GPUs. Finds `fake` only if `wanted` names it. */
	readonly detect: (wanted: ProviderName | undefined) => Promise<Detected>;
	readonly paint: Paint;
	/** Prints the requested output on stdout. `done` describes what was done, and is printed on stderr if nobody can read stdout. */
	readonly print: (text: string, done?: string) => void;
	readonly remark: (text: string) => void;
	/** Prints on stderr without waiting for the reader, because a blocked stderr must not stop a request that waits in the queue. */
	readonly progress: (text: string) => void;
	/** Stops messages of other programs to the terminal, as `mesg n` does. Returns a function that allows them again. */
	readonly refuseMessages: () => () => void;
	/** Opens stdout for writes that never wait for the reader. `failed` gets the error when the reader has gone. */
	readonly openPatientOutput: (failed: (error: unknown) => void) => PatientOutput | undefined;
	readonly isTerminal: boolean;
	/** The width of the terminal. Undefined if unknown, as in a pipe. */
	readonly columns: number | undefined;
	/** Stderr, if it is a terminal on which a line can be redrawn. */
	readonly liveErrors: {readonly write: (text: string) => void; readonly columns: () => number} | undefined;
	/** Called with the progress of a request that waits in the queue, if the command runs in a monitor and not in a process of its own. */
	readonly onWaiting?: (words: string) => void;
	/** Called with the reservations that were released and can still be restored. */
	readonly onReleased?: (released: readonly Holding[]) => void;
	readonly environment: Readonly<Record<string, string | undefined>>;
	/** Returns the `status --json` of another host. Rejects after 10 s or when `signal` is aborted. */
	readonly remoteStatus: (
		host: string,
		signal?: AbortSignal,
	) => Promise<ReadonlyArray<Readonly<Record<string, unknown>>>>;
	/** Calls `onStatus` after each change on another host. Rejects when the connection ends. Resolves with `unsupported` for an older version. */
	readonly followHost: (
		host: string,
		onStatus: (status: {
			readonly rows: ReadonlyArray<Readonly<Record<string, unknown>>>;
			/** The name of this user's account on that host. */
			readonly account: string | undefined;
			readonly waitingCount: number | undefined;
		}) => void,
		signal: AbortSignal,
	) => Promise<'unsupported'>;
	/** Returns the `report --json` of another host. Rejects after 10 s. */
	readonly remoteReport: (host: string, days: number, by: string) => Promise<Readonly<Record<string, unknown>>>;
	/** Returns the queue of another host. Rejects after 10 s or when `signal` is aborted. */
	readonly remoteQueue: (
		host: string,
		signal?: AbortSignal,
	) => Promise<OwnLimits & {readonly entries: ReadonlyArray<Readonly<Record<string, unknown>>>}>;
	/**
	Runs this program on another host by ssh, in this terminal. Signals reach the remote command, which ends when the connection ends. If the host does
	not answer within a few seconds, prints a line with its name on stderr. Resolves with the exit code of the command, or with 255 if ssh fails or the
	time limits of `patience` are exceeded. Rejects with a CanhazgpuError if ssh cannot be started.
	*/
	readonly runOnHost: (
		command: Omit<RemoteCommand, 'hasTerminal' | 'announces'>,
		patience: Patience,
	) => Promise<HostRun>;
	/** Runs this program on another host by ssh and returns its output. Rejects if ssh fails. Without `isUnbounded`, rejects after 30 s, too. */
	readonly callOnHost: (
		call: RemoteCall,
	) => Promise<{readonly exitCode: number; readonly stdout: string; readonly stderr: string}>;
	readonly interruption: () => Interruption;
	/** Returns a directory of mode 0700 that no other account can enter or replace. Creates the directory if it does not exist. */
	readonly openPrivateDirectory: () => Promise<string>;
	/** Loads a check of whether this account is at the other end of a socket. If the kernel cannot tell, the check passes. */
	readonly loadCallerCheck: () => Promise<(socket: Socket) => boolean>;
	/** Keeps this process running after uncaught errors, and passes each error to `report`. */
	readonly outliveBugs: (report: (error: unknown) => void) => void;
	/** Loads the modules that are needed later, because an upgrade can remove their files in the meantime. Never rejects. */
	readonly loadAhead: (details?: OpenOptions['details']) => Promise<void>;
	readonly inspectProcesses: (pids: readonly number[]) => Promise<FactsOfProcesses>;
	/** Sends a signal to a process of this account, if its pid has not passed to another process in the meantime. */
	readonly sendSignal: typeof sendSignal;
	readonly loadDetaching: () => Promise<{
		readonly prepareLogs: () => void;
		readonly logFor: (id: string) => string;
		/** Opens the output of a job, or its last bytes. Throws `failed` if it is missing or belongs to somebody else. */
		readonly openLog: (file: string, endBytes?: number) => OpenedLog;
		/** Returns a code that proves that this account has written the content. Call `prepareLogs` first. */
		readonly seal: (content: unknown) => string;
		readonly sizeOfLog: (file: string) => number;
		/** Returns the last bytes of a log, without its first `start` bytes. Undefined if it cannot be read. */
		readonly readLogEnd: (file: string, length: number, start?: number) => string | undefined;
		readonly checkDetachable: (words: readonly string[]) => void;
		readonly start: typeof startDetached;
		readonly endOrphan: typeof endOrphan;
		readonly readLogoutSurvival: () => Promise<LogoutSurvival>;
	}>;
	readonly lineHistory: LineHistory;
	/** Returns whether this machine knows the account or group. May query account databases in the network. */
	readonly isKnownName: (name: Pick<NamedLimit, 'kind' | 'name'>) => Promise<boolean>;
	/** Sends a notice to the targets of its account, if it is wanted. Returns a sentence for each target that failed, within seconds. Never rejects. */
	readonly notify: (notice: Notice, signal?: AbortSignal) => Promise<readonly string[]>;
	readonly loadNotices: () => Promise<Notices>;
	/** Returns the config file of the machine if other accounts cannot read it. */
	readonly closedMachineConfig: () => string | undefined;
	/** Finds a file or directory of this program that other accounts cannot read. Returns it with the installation directory. */
	readonly closedProgram: () => {readonly part: string; readonly directory: string} | undefined;
	/** Checks this process for things that most programs rely on, such as a home directory. Never rejects. */
	readonly readEnvironment: () => Promise<EnvironmentFacts>;
	/** Checks whether jobs can be isolated on this machine. Never rejects. */
	readonly checkIsolation: () => Promise<IsolationCheck>;
	/** Finds a CUDA version such as `12.4`. If it is not installed, rejects with a CanhazgpuError `impossible` that lists the installed versions. */
	readonly prepareCuda: (version: string) => Promise<PreparedCuda>;
	readonly findMpsDaemon: () => Promise<{readonly directory: string; readonly isRunning: boolean}>;
	/**
	Prepares a command and returns the function that starts it. The start is synchronous, so no signal can arrive between the caller's last check and the
	start. If `when` is `later`, this process already switches to the caller's limit of open files, so that the command inherits that limit. Rejects with
	a CanhazgpuError of exit code 127 or 126 if the PATH of `environment` has no such command.
	*/
	readonly prepareJob: (
		words: readonly [command: string, ...args: readonly string[]],
		environment: Readonly<Record<string, string | undefined>>,
		when: 'now' | 'later',
	) => Promise<(options: JobOptions) => Promise<Job>>;
};
