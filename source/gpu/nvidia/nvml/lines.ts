/** Encodes a scan as a line of text, which the process that calls the driver's library sends to the process that shows the scan. Also decodes it. */
import type {BareReading} from '../../reading.js';
import {readLines, type StreamReader} from '../../tool/stream.js';
import type {ProcessTable} from '../processes.js';

export type WholeScan = {
	readonly gpus: readonly BareReading[];
	readonly processes: ProcessTable;
	readonly driverVersion?: string;
};

/** Limit for a line, far longer than a scan of the largest machine. */
const longestLine = 4 * 1024 * 1024;

export const encodeScan = ({gpus, processes: {byGpu, hidden}, driverVersion}: WholeScan): string =>
	JSON.stringify({gpus, byGpu: [...byGpu], hidden: [...hidden], driverVersion});

export const decodeScan = (line: string): WholeScan | undefined => {
	try {
		const {gpus, byGpu, hidden, driverVersion} = JSON.parse(line) as Record<string, unknown>;
		const isWhole =
			Array.isArray(gpus) &&
			gpus.length > 0 &&
			gpus.every((gpu: unknown) => typeof (gpu as {index?: unknown} | undefined)?.index === 'number');
		return isWhole
			? {
					gpus: gpus as WholeScan['gpus'],
					processes: {
						byGpu: new Map(byGpu as Iterable<readonly [string, never]>),
						hidden: new Map(hidden as Iterable<readonly [string, string]>),
						remarks: [],
					},
					driverVersion: typeof driverVersion === 'string' ? driverVersion : undefined,
				}
			: undefined;
	} catch {
		return undefined;
	}
};

export const readScans: StreamReader<WholeScan> = ({block, garbage}) =>
	readLines({longestLine, garbage}, (line) => {
		const scan = decodeScan(line);
		if (scan === undefined) {
			garbage();
		} else {
			block(scan);
		}
	});
