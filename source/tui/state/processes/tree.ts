/** Processes in the order of their parents. */
import type {GpuProcess} from '../../../core/model/types.js';

type OnGpu = {readonly process: GpuProcess; readonly gpu: number};

/**
Each below the one that started it: on the same GPU, or else where that one stands first. Among equals the order stays.

@returns Each with the number of ancestors above it.
*/
export function asTree<Row extends OnGpu>(
	rows: readonly Row[],
): ReadonlyArray<{readonly row: Row; readonly depth: number}> {
	const byPid = Map.groupBy(rows, ({process}) => process.pid);
	const parentOf = ({process: {pid, parentPid}, gpu}: Row): Row | undefined => {
		const parents = parentPid === undefined || parentPid === pid ? [] : (byPid.get(parentPid) ?? []);
		return parents.find((parent) => parent.gpu === gpu) ?? parents[0];
	};

	const children = Map.groupBy(rows, (row) => parentOf(row));
	const placed: Array<{readonly row: Row; readonly depth: number}> = [];
	const seen = new Set<Row>();
	const place = (root: Row): void => {
		// Without recursion: each process of a long chain may have started the next.
		const waiting = [{row: root, depth: 0}];
		for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
			const {row, depth} = next;
			if (seen.has(row)) {
				continue;
			}

			seen.add(row);
			placed.push(next);
			waiting.push(...(children.get(row) ?? []).map((child) => ({row: child, depth: depth + 1})).toReversed());
		}
	};

	// Two that claim to have started each other have no root: they are placed last.
	for (const root of [...(children.get(undefined) ?? []), ...rows]) {
		place(root);
	}

	return placed;
}
