import {CanhazgpuError, quoted} from '../../../errors.js';

/** Maximum number of jobs in an array. Limited, because each waiting job has its own process. */
export const mostArrayJobs = 1000;

export type ArrayRequest = {
	readonly indices: readonly number[];
	readonly limit?: number;
};

const example = 'Write indices such as 0-7 or 1,3,5 or 0-20:5, followed by %4 to run four at a time.';

const refusal = (typed: string, problem: string): CanhazgpuError =>
	new CanhazgpuError('usage', `--array ${quoted(typed)}: ${problem}`, {hint: example});

/** Parses `0-9`, `1,3,5`, `0-20:5` and `0-9%4`. Throws `usage`. */
export function parseArray(typed: string): ArrayRequest {
	const {list, limit} = /^(?<list>[\d,\-:]+)(?:%(?<limit>\d{1,9}))?$/v.exec(typed.trim())?.groups ?? {};
	if (list === undefined) {
		throw refusal(typed, 'this is not a list of indices');
	}

	const indices = new Set<number>();
	for (const part of list.split(',')) {
		const found = /^(?<first>\d{1,9})(?:-(?<last>\d{1,9})(?::(?<step>\d{1,9}))?)?$/v.exec(part)?.groups;
		if (found === undefined) {
			throw refusal(typed, `${quoted(part)} is neither an index nor a range`);
		}

		const first = Number(found['first']);
		const last = Number(found['last'] ?? first);
		const step = Number(found['step'] ?? 1);
		if (last < first || step === 0) {
			throw refusal(typed, `${quoted(part)} contains no index`);
		}

		for (let index = first; index <= last; index += step) {
			indices.add(index);
			if (indices.size > mostArrayJobs) {
				throw refusal(typed, `an array has at most ${mostArrayJobs} jobs`);
			}
		}
	}

	if (limit !== undefined && Number(limit) === 0) {
		throw refusal(typed, 'with %0, no job would ever start');
	}

	return {
		indices: [...indices].toSorted((a, b) => a - b),
		...(limit !== undefined && {limit: Number(limit)}),
	};
}
