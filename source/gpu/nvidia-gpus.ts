import type {GpuReading} from '../core/types.js';
import {type CsvRow, isMarker, parseCsv, readNumber} from './nvidia-csv.js';
import {type BrokenGpu, parseHandleFailure, placeBroken} from './nvidia-broken.js';
import {normalizePciBusId} from './pci.js';
import type {BareReading} from './reading.js';
import {cap} from './text.js';

/**
What is asked of every GPU (`nvidia-smi --help-query-gpu`), in this order.
*/
export const gpuFields = [
	'index',
	'uuid',
	'pci.bus_id',
	'name',
	'memory.total',
	'memory.used',
	'utilization.gpu',
	'temperature.gpu',
	'power.draw',
	'power.limit',
	'driver_version',
] as const;

export type GpuTable = {
	/**
	By index. GPUs that could not be asked are among them, with their `failure`.
	*/
	readonly gpus: readonly BareReading[];
	readonly driverVersion?: string;
	/**
	Lines that belong to no GPU, as the tool wrote them.
	*/
	readonly remarks: readonly string[];
};

type Cells = ReadonlyMap<string, string>;

/**
No machine has so many; a larger number is no index.
*/
const largestIndex = 1023;

/**
Reads what `--query-gpu` printed. Undefined when it holds no table at all.
*/
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
		const index = line.kind === 'row' ? readIndex(line.cells) : undefined;
		if (line.kind === 'other' || (index !== undefined && gpus.has(index))) {
			remark(line.text);
		} else if (index !== undefined) {
			gpus.set(index, readGpu(index, line));
			driverVersion ??= readText(line.cells.get('driver_version'));
			previousIndex = index;
		} else if (isMarker(line.cells.get('index') ?? '')) {
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

const readIndex = (cells: Cells): number | undefined => {
	const text = cells.get('index') ?? '';
	return /^\d{1,4}$/v.test(text) && Number(text) <= largestIndex ? Number(text) : undefined;
};

const readText = (text: string | undefined): string | undefined =>
	text === undefined || isMarker(text) ? undefined : cap(text, 200);

const readGpu = (index: number, {cells, text: line}: CsvRow): BareReading => {
	const unknown: Record<string, string> = {};

	const text = (column: string, field: keyof GpuReading): string | undefined => {
		const cell = cells.get(column);
		const value = readText(cell);
		if (cell !== undefined && value === undefined) {
			unknown[field] = cell;
		}

		return value;
	};

	const number = (column: string, field: keyof GpuReading): number | undefined => {
		const cell = cells.get(column);
		if (cell === undefined) {
			return undefined;
		}

		const value = readNumber(cell);
		if (value === undefined) {
			unknown[field] = cap(cell, 100);
		}

		return value;
	};

	const busId = text('pci.bus_id', 'pciBusId');
	return {
		index,
		uuid: text('uuid', 'uuid'),
		pciBusId: normalizePciBusId(busId ?? '') ?? busId,
		name: text('name', 'name'),
		memoryUsedMiB: number('memory.used', 'memoryUsedMiB'),
		memoryTotalMiB: number('memory.total', 'memoryTotalMiB'),
		utilizationPercent: number('utilization.gpu', 'utilizationPercent'),
		temperatureCelsius: number('temperature.gpu', 'temperatureCelsius'),
		powerWatts: number('power.draw', 'powerWatts'),
		powerLimitWatts: number('power.limit', 'powerLimitWatts'),
		failure: findFailure(line, cells),
		unknown,
	};
};

/**
A GPU is broken when any cell says so, or when not even its identity or its memory could be read. A lone `[Unknown Error]`
elsewhere is a sensor that does not answer. Broken GPUs were seen to report 0 MiB in use: what they say must not count as free.
*/
const findFailure = (line: string, cells: Cells): string | undefined => {
	const broken = /\[[^,\[\]]*(?:requires reset|reset required|is lost)[^,\[\]]*\]/iv.exec(line)?.[0];
	const silent = ['uuid', 'memory.used']
		.map((column) => cells.get(column) ?? '')
		.find((cell) => /^\[unknown error\]$|^err!$/iv.test(cell));
	const words = broken ?? silent;
	return words === undefined ? undefined : withoutBrackets(words);
};

const withoutBrackets = (marker: string): string => cap(marker.replace(/^\[(?<words>.*)\]$/v, '$<words>'), 200);
