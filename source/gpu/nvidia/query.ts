import type {RunTool, ToolOutcome} from '../tool/tool.js';
import {queryArguments, type Query} from './fields.js';

type Options = {
	readonly run: RunTool;
	readonly command: string;
	readonly option: Query;
	readonly fields: (refused: ReadonlySet<string>) => readonly string[];
	readonly essential: readonly string[];
	readonly monotonicMs: () => number;
	readonly signal?: AbortSignal;
};

const maxBytes = 4 * 1024 * 1024;

type ToolQuery = {
	/** `timeoutMs` covers all attempts. */
	readonly ask: (timeoutMs: number) => Promise<ToolOutcome>;
	readonly args: () => readonly string[];
};

/** Creates a query that is repeated without the fields that this nvidia-smi refuses. Later queries omit these fields, too. */
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

/** Returns the field in `Field "power.limit" is not a valid field to query.`, from stdout or stderr. */
const refusedField = ({stdout, stderr}: ToolOutcome): string | undefined =>
	/^field "(?<field>[^"]+)" is not a valid field to query/imv.exec(`${stdout}\n${stderr}`)?.groups?.['field'];
