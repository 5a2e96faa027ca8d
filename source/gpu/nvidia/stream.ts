import type {StreamReader} from '../tool/stream.js';
import {parseGpuTable, type GpuTable} from './gpus.js';

/** Far more than the largest machine prints at once. */
const longestTable = 1024 * 1024;

/**
Reads what `nvidia-smi --query-gpu=index,... --format=csv,nounits -l N` prints: a header, then every N seconds a row for each GPU. Nothing
stands between two tables, so it must be known how many rows one has.

A table of another size, or with a broken GPU in it, is garbage: on some machines the loop goes bad while single runs of the tool are
fine, so it is for those to tell.

@param gpuCount - As a single run of the tool has just reported. Undefined: not known.
*/
export const tableReader =
	(gpuCount: () => number | undefined): StreamReader<GpuTable> =>
	({block, garbage}) => {
		const size = gpuCount() ?? 0;
		let partial = '';
		let header: string | undefined;
		let rows: string[] = [];

		const finish = () => {
			const table = parseGpuTable([header, ...rows].join('\n'), '');
			rows = [];
			if (table?.gpus.length === size && isSound(table)) {
				block(table);
			} else {
				garbage();
			}
		};

		const take = (line: string) => {
			if (line === '' || line === header) {
				return;
			}

			if (header === undefined) {
				header = line;
				return;
			}

			rows.push(line);
			if (rows.length >= size) {
				finish();
			}
		};

		return (text) => {
			const lines = (partial + text).split('\n');
			partial = lines.pop() ?? '';
			for (const line of lines) {
				take(line.trim());
			}

			if (partial.length > longestTable) {
				garbage();
			}
		};
	};

const isSound = ({gpus, remarks}: GpuTable): boolean =>
	remarks.length === 0 && gpus.every(({failure}) => failure === undefined);
