import type {BareReading} from '../reading.js';
import {isMarker, parseCsv, readNumber} from './csv.js';
import {type BrokenGpu, parseHandleFailure, placeBroken} from './problems/unreachable-gpus.js';
import {readGpu, readText, withoutBrackets} from './reading.js';

export type GpuTable = {
	/** By index. GPUs that could not be asked are among them, with their `failure`. */
	readonly gpus: readonly BareReading[];
	readonly driverVersion?: string;
	/** Lines that belong to no GPU, as the tool wrote them. */
	readonly remarks: readonly string[];
};

type Cells = ReadonlyMap<string, string>;

/** No machine has so many; a larger number is no index. */
const largestIndex = 1023;

/** Reads what `--query-gpu` printed. Undefined when it holds no table at all. */
export const parseGpuTable = (stdout: string, stderr: string): GpuTable | undefined => {
	const lines = parseCsv(stdout, {required: ['index'], freeText: 'name'});
	if (lines === undefined) {
		return undefined;
	}

	const gpus = new Map<number, BareReading>();
	const handles: BrokenGpu[] = [];
	const rows: BrokenGpu[] = [];
	const remarks: string[] = [];
	const heard = new Set<string>();
	let driverVersion: string | undefined;
	let previousIndex = -1;

	const remark = (text: string) => {
		const broken = parseHandleFailure(text, previousIndex);
		if (broken === undefined) {
			remarks.push(text);
		} else if (!heard.has(text)) {
			heard.add(text);
			handles.push(broken);
		}
	};

	for (const line of lines) {
		const index = line.kind === 'row' && !isShifted(line.cells) ? readIndex(line.cells) : undefined;
		const earlier = index === undefined ? undefined : gpus.get(index);
		if (line.kind === 'other' || earlier !== undefined) {
			remark(line.text);
			if (line.kind === 'row' && earlier !== undefined && earlier.uuid !== readText(line.cells.get('uuid'))) {
				gpus.set(earlier.index, {...earlier, failure: 'two GPUs are listed under this index'});
			}
		} else if (index !== undefined) {
			gpus.set(index, readGpu(index, line));
			driverVersion ??= readText(line.cells.get('driver_version')) ?? readText(line.cells.get('kmd_version'));
			previousIndex = index;
		} else if (!isShifted(line.cells) && isMarker(line.cells.get('index') ?? '')) {
			rows.push({words: withoutBrackets(line.cells.get('index') ?? ''), previousIndex});
		} else {
			remark(line.text);
		}
	}

	previousIndex = -1;
	for (const line of stderr.split('\n')) {
		const text = line.trim();
		if (text !== '') {
			remark(text);
		}
	}

	return {gpus: placeBroken(gpus, handles, rows), driverVersion, remarks};
};

/** A comma too many was not in the name but elsewhere when the name has taken in a reading: then every cell behind it is another one's. */
const isShifted = (cells: Cells): boolean => {
	const pieces = (cells.get('name') ?? '').split(',').slice(1);
	return pieces.some((piece) => isMarker(piece.trim()) || readNumber(piece.trim()) !== undefined);
};

const readIndex = (cells: Cells): number | undefined => {
	const text = cells.get('index') ?? '';
	return /^\d{1,4}$/v.test(text) && Number(text) <= largestIndex ? Number(text) : undefined;
};
