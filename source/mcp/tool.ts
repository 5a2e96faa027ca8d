/** The types of the tools. A tool reads or changes the pool with the core's operations, and returns what a command prints. */
import type * as v from 'valibot';
import type {EngineWorld, Progress} from '../core/operations/engine.js';
import type {Requester} from '../core/model/types.js';
import type {Report} from '../core/rules/pool/report.js';
import type {schemas} from '../help/schema/index.js';
import type {AgentJobs} from './agent-jobs.js';
import type {HeldLeases} from './held-leases.js';

export type Call = {
	/** The pool, with the name of the client in its audit log. */
	readonly world: EngineWorld;
	readonly requester: Requester;
	/** The value of `via` for what this client reserves. */
	readonly via: string;
	readonly held: HeldLeases;
	readonly jobs: AgentJobs;
	readonly report: (question: {readonly days: number; readonly by: string; readonly user?: string}) => Promise<Report>;
	/** Aborted when the client cancels the call or the connection ends. */
	readonly signal: AbortSignal;
	/** Aborted when the connection ends. */
	readonly connectionEnd: AbortSignal;
	readonly progress: (progress: Progress) => void;
	readonly failed: (error: unknown) => void;
};

export type Answer = {
	/** The same as the `--json` output of the command. Absent if the tool has no schema. */
	readonly json?: unknown;
	/** A paragraph or several lines, sanitized. */
	readonly words: string;
};

export type Tool = {
	readonly name: string;
	readonly title: string;
	readonly description: string;
	readonly input: v.GenericSchema<Readonly<Record<string, unknown>>>;
	/** The schema of the result, by the name of the command. Absent for a tool that answers only in words. */
	readonly output?: keyof typeof schemas;
	readonly isReadOnly: boolean;
	/** Whether the tool ends something that cannot be continued. */
	readonly isDestructive?: boolean;
	readonly call: (call: Call, input: unknown) => Promise<Answer>;
};

type ToolOf<Input extends v.GenericSchema> = Omit<Tool, 'input' | 'call'> & {
	readonly input: Input;
	readonly call: (call: Call, input: v.InferOutput<Input>) => Promise<Answer>;
};

/** Defines a tool. The compiler checks that `call` takes what `input` accepts. */
export const defineTool = <Input extends v.GenericSchema<Readonly<Record<string, unknown>>>>(
	tool: ToolOf<Input>,
): Tool => ({
	...tool,
	call: async (call, input) => tool.call(call, input as v.InferOutput<Input>),
});
