import type {GpuReading} from '../../core/model/types.js';
import {judgeHealth, olderRecoveryAction} from '../health.js';
import {normalizePciBusId} from '../../core/model/pci.js';
import {type BareReading, withoutVoidMemory} from '../reading.js';
import {cap} from '../tool/text.js';
import {isBrakingForHeat, readReasonBits, throttleWords} from './problems/throttle.js';
import {type CsvRow, isMarker, readAnswer, readNumber} from './csv.js';

type Cells = ReadonlyMap<string, string>;

export const readText = (text: string | undefined): string | undefined =>
	text === undefined || isMarker(text) ? undefined : cap(text, 200);

/** Reads the cells of one GPU. What the tool does not tell is noted in `unknown`, in its own word. */
export const readGpu = (index: number, {cells}: CsvRow): BareReading => {
	const unknown: Record<string, string> = {};

	const read = <Value>(
		column: string,
		field: keyof GpuReading,
		parse: (cell: string) => Value | undefined,
	): Value | undefined => {
		const cell = cells.get(column);
		const value = cell === undefined ? undefined : parse(cell);
		if (cell !== undefined && value === undefined) {
			unknown[field] = cap(cell, 100);
		}

		return value;
	};

	const text = (column: string, field: keyof GpuReading) => read(column, field, readText);
	const number = (column: string, field: keyof GpuReading) => read(column, field, readNumber);
	const answer = (column: string) => readAnswer(cells.get(column) ?? '');

	const busId = text('pci.bus_id', 'pciBusId');
	const failure = findFailure(cells);
	const temperatureCelsius = number('temperature.gpu', 'temperatureCelsius');
	const marginCelsius = read('temperature.gpu.tlimit', 'temperatureLimitCelsius', readMargin);
	const temperatureLimitCelsius =
		temperatureCelsius === undefined || marginCelsius === undefined ? undefined : temperatureCelsius + marginCelsius;
	const reasonBits = read(
		cells.has('clocks_event_reasons.active') ? 'clocks_event_reasons.active' : 'clocks_throttle_reasons.active',
		'throttleReasons',
		readReasonBits,
	);
	const eccUncorrectedErrors = number('ecc.errors.uncorrected.volatile.total', 'eccUncorrectedErrors');
	const health = judgeHealth({
		failure,
		recoveryAction:
			readText(cells.get('gpu_recovery_action')) ??
			olderRecoveryAction(answer('reset_status.reset_required'), answer('reset_status.drain_and_reset_recommended')),
		eccUncorrectedErrors,
		hasFailedRemapping: answer('remapped_rows.failure'),
		hasPendingPages: answer('retired_pages.pending'),
		temperatureCelsius,
		temperatureLimitCelsius,
		isBrakingForHeat: reasonBits !== undefined && isBrakingForHeat(reasonBits),
	});
	return withoutVoidMemory({
		index,
		uuid: text('uuid', 'uuid'),
		pciBusId: normalizePciBusId(busId ?? '') ?? busId,
		name: text('name', 'name'),
		memoryUsedMiB: number('memory.used', 'memoryUsedMiB'),
		memoryTotalMiB: number('memory.total', 'memoryTotalMiB'),
		memoryReservedMiB: number('memory.reserved', 'memoryReservedMiB'),
		utilizationPercent: number('utilization.gpu', 'utilizationPercent'),
		memoryUtilizationPercent: number('utilization.memory', 'memoryUtilizationPercent'),
		temperatureCelsius,
		temperatureLimitCelsius,
		powerWatts: number('power.draw', 'powerWatts'),
		powerLimitWatts: number('power.limit', 'powerLimitWatts'),
		fanPercent: number('fan.speed', 'fanPercent'),
		smClockMHz: number('clocks.current.sm', 'smClockMHz'),
		memoryClockMHz: number('clocks.current.memory', 'memoryClockMHz'),
		throttleReasons: reasonBits === undefined ? undefined : throttleWords(reasonBits),
		eccUncorrectedErrors,
		isMigEnabled: read('mig.mode.current', 'isMigEnabled', readSwitch),
		...(isPending(cells) && {isMigPending: true}),
		computeMode: text('compute_mode', 'computeMode'),
		computeCapability: read('compute_cap', 'computeCapability', readVersion),
		...(health.length > 0 && {health}),
		failure,
		unknown,
	});
};

/** How many degrees are left until the GPU slows down; below 0 when it is past that. */
const readMargin = (text: string): number | undefined => (/^-?\d{1,3}$/v.test(text) ? Number(text) : undefined);

/** Whether an administrator has switched MIG, which waits for a reset. */
const isPending = (cells: Cells): boolean => {
	const [current, pending] = ['mig.mode.current', 'mig.mode.pending'].map((column) =>
		readSwitch(cells.get(column) ?? ''),
	);
	return current !== undefined && pending !== undefined && current !== pending;
};

const readSwitch = (text: string): boolean | undefined => ({enabled: true, disabled: false})[text.toLowerCase()];

const readVersion = (text: string): string | undefined => (/^\d{1,3}\.\d{1,3}$/v.test(text) ? text : undefined);

/**
A GPU is broken when any cell says so, or when not even its identity or its memory could be read. A lone `[Unknown Error]`
elsewhere is a sensor that does not answer. Broken GPUs were seen to report 0 MiB in use: what they say must not count as free.
*/
const findFailure = (cells: Cells): string | undefined => {
	const broken = cells.values().find((cell) => cell.startsWith('[') && brokenWords.test(cell));
	const silent = ['uuid', 'memory.used']
		.map((column) => cells.get(column) ?? '')
		.find((cell) => silentWords.has(cell.toLowerCase()));
	const words = broken ?? silent;
	return words === undefined ? undefined : withoutBrackets(words);
};

const brokenWords = /[Rr]equires [Rr]eset|[Rr]eset [Rr]equired|[Ii]s [Ll]ost/v;
const silentWords = new Set(['[unknown error]', 'err!']);

export const withoutBrackets = (marker: string): string => cap(marker.replace(/^\[(?<words>.*)\]$/v, '$<words>'), 200);
