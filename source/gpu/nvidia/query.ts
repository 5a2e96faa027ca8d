import type {RunTool, ToolOutcome} from '../tool/tool.js';
import {queryArguments, type Query} from './fields.js';

type Options = {
	readonly run: RunTool;
	readonly command: string;
	readonly option: Query;
	/** Returns the fields to query, in order, without refused ones. */
	readonly fields: (refused: ReadonlySet<string>) => readonly string[];
	/** Fields without which the answer is of no use. */
	readonly essential: readonly string[];
	readonly monotonicMs: () => number;
	readonly signal?: AbortSignal;
};

/** Far more than the table of the largest machine, and little enough to hold. */
const maxBytes = 4 * 1024 * 1024;

type ToolQuery = {
	/**
	@param timeoutMs - For all attempts together.
	*/
	readonly ask: (timeoutMs: number) => Promise<ToolOutcome>;
	/** Arguments without the fields that this tool refuses. */
	readonly args: () => readonly string[];
};

/** Makes a query that asks without the fields which this nvidia-smi turns out not to know, and remembers them. */
export const createQuery = ({run, command, option, fields, essential, monotonicMs, signal}: Options): ToolQuery => {
	const refused = new Set<string>();
	const currentArguments = () => queryArguments(option, fields(refused));

	const ask = async (timeoutMs: number) => {
		const startedAtMs = monotonicMs();
		for (;;) {
			const wanted = fields(refused);
			const leftMs = Math.max(1, timeoutMs - (monotonicMs() - startedAtMs));
			const args = currentArguments();
			const outcome = await run(command, args, {timeoutMs: leftMs, maxBytes, signal});
			const field = refusedField(outcome);
			if (field === undefined || !wanted.includes(field) || essential.includes(field)) {
				return outcome;
			}

			refused.add(field);
		}
	};

	return {ask, args: currentArguments};
};

/** `Field "power.limit" is not a valid field to query.`, on either stream, and nothing else is printed. */
const refusedField = ({stdout, stderr}: ToolOutcome): string | undefined =>
	/^field "(?<field>[^"]+)" is not a valid field to query/imv.exec(`${stdout}\n${stderr}`)?.groups?.['field'];
