/** The interface that lets the tools for jobs use the commands `run --detach`, `jobs`, `logs` and `cancel`. */
import type {EngineWorld} from '../core/operations/engine.js';
import type {AcquireRequest} from '../core/rules/request/request.js';
import type {JobRow} from '../core/rules/jobs/rows.js';
import type {Requester} from '../core/model/types.js';

/** The fields that describe a request, as the client has written them. */
type Wanted = {
	readonly gpu_ids?: ReadonlyArray<number | string> | undefined;
	readonly min_memory?: string | undefined;
	readonly models?: readonly string[] | undefined;
	readonly min_compute?: string | undefined;
	readonly nvlink?: boolean | undefined;
	readonly mixed?: boolean | undefined;
	readonly share?: string | undefined;
	readonly mig?: string | undefined;
};

export type JobOfAgent = {
	readonly request: AcquireRequest;
	readonly wanted: Wanted;
	readonly command: readonly [string, ...string[]];
	/** How long the command may run, as the client has written it. */
	readonly timeout: string;
	/** The directory where the command starts. The default is the directory of the server. */
	readonly directory: string | undefined;
	readonly variables: Readonly<Record<string, string>>;
};

export type SubmittedJob = {
	readonly id: string;
	/** The output of `run --detach --json`. */
	readonly json: unknown;
	/** Sentences for the user, such as a warning that a logout ends the job. */
	readonly remarks: readonly string[];
};

export type Rows = {readonly rows: readonly JobRow[]; readonly now: number};

export type LogTail = {
	readonly row: JobRow;
	readonly file: string;
	readonly bytes: Uint8Array;
	/** Whether the file has more bytes before these. */
	readonly isCut: boolean;
};

type Owner = {readonly requester: Requester; readonly id: string};

/** The jobs of one account. Every function but `submit` and `list` throws `usage` for an unknown id, and `not-owner` for a job of another account. */
export type AgentJobs = {
	/** Submits a job. Checks everything before anything is stored. */
	readonly submit: (world: EngineWorld, job: JobOfAgent) => Promise<SubmittedJob>;
	readonly list: (world: EngineWorld, requester: Requester) => Promise<Rows>;
	readonly find: (world: EngineWorld, owner: Owner) => Promise<Rows>;
	readonly tail: (world: EngineWorld, owner: Owner & {readonly mostBytes: number}) => Promise<LogTail>;
	/** Cancels a job or an array. Returns the ids of the cancelled jobs. Throws `failed` if a job does not end in time, or if `signal` is aborted. */
	readonly cancel: (
		world: EngineWorld,
		owner: Owner & {readonly via: string; readonly signal: AbortSignal},
	) => Promise<readonly string[]>;
};
