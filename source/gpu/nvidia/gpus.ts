import {normalizePciBusId} from '../../core/model/observation.js';
import {failureOfWords, withoutBrackets, type ReadingWord} from '../error-words.js';
import {healthOf, olderRecoveryAction} from '../health.js';
import {type BareReading, withoutVoidMemory} from '../reading.js';
import {cap} from '../tool/text.js';
import {type CsvRow, isMarker, parseCsv, readAnswer, readNumber} from './csv.js';
import {readingNamed, readingOfField, type ReadingField} from './fields.js';
import {isBrakingForHeat, readReasonBits, throttleWords} from './problems/throttle.js';
import {type BrokenGpu, parseHandleFailure, placeBroken} from './problems/unreachable-gpus.js';

export type GpuTable = {
	/** The GPUs by index, including GPUs with a `failure`. */
	readonly gpus: readonly BareReading[];
	readonly driverVersion?: string;
	/** Lines that belong to no GPU. */
	readonly remarks: readonly string[];
};

type Cells = ReadonlyMap<string, string>;

const largestIndex = 1023;

/** Parses `--query-gpu`. Undefined without a table. */
export const parseGpuTable = (stdout: string, stderr: string): GpuTable | undefined => {
	const lines = parseCsv(stdout, {required: ['index'], freeText: 'name'});
	if (lines === undefined) {
		return undefined;
	}

	const gpus = new Map<number, BareReading>();
	const handles: BrokenGpu[] = [];
	const rows: BrokenGpu[] = [];
	const remarks: string[] = [];
	const seen = new Set<string>();
	let driverVersion: string | undefined;
	let previousIndex = -1;

	const remark = (text: string) => {
		const broken = parseHandleFailure(text, previousIndex);
		if (broken === undefined) {
			remarks.push(text);
		} else if (!seen.has(text)) {
			seen.add(text);
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
			rows.push({words: cap(withoutBrackets(line.cells.get('index') ?? ''), 200), previousIndex});
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

/** Whether a row has an extra comma outside of the name, which shifts all later cells. The supposed name then contains a reading. */
const isShifted = (cells: Cells): boolean => {
	const pieces = (cells.get('name') ?? '').split(',').slice(1);
	return pieces.some((piece) => isMarker(piece.trim()) || readNumber(piece.trim()) !== undefined);
};

const readIndex = (cells: Cells): number | undefined => {
	const text = cells.get('index') ?? '';
	return /^\d{1,4}$/v.test(text) && Number(text) <= largestIndex ? Number(text) : undefined;
};

const readText = (text: string | undefined): string | undefined =>
	text === undefined || isMarker(text) ? undefined : cap(text, 200);

const readGpu = (index: number, {cells}: CsvRow): BareReading => {
	const unknown: Record<string, string> = {};

	const read = <Value>(field: ReadingField, parse: (cell: string) => Value | undefined): Value | undefined => {
		const cell = cells.get(field);
		const value = cell === undefined ? undefined : parse(cell);
		if (cell !== undefined && value === undefined) {
			unknown[readingOfField[field]] = cap(cell, 100);
		}

		return value;
	};

	const text = (field: ReadingField) => read(field, readText);
	const number = (field: ReadingField) => read(field, readNumber);
	const answer = (column: string) => readAnswer(cells.get(column) ?? '');

	const busId = text('pci.bus_id');
	const failure = failureOfWords(wordsOf(cells));
	const temperatureCelsius = number('temperature.gpu');
	const marginCelsius = read('temperature.gpu.tlimit', readMargin);
	const temperatureLimitCelsius =
		temperatureCelsius === undefined || marginCelsius === undefined ? undefined : temperatureCelsius + marginCelsius;
	const reasonBits = read(
		cells.has('clocks_event_reasons.active') ? 'clocks_event_reasons.active' : 'clocks_throttle_reasons.active',
		readReasonBits,
	);
	const eccUncorrectedErrors = number('ecc.errors.uncorrected.volatile.total');
	const health = healthOf({
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
		uuid: text('uuid'),
		pciBusId: normalizePciBusId(busId ?? '') ?? busId,
		name: text('name'),
		memoryUsedMiB: number('memory.used'),
		memoryTotalMiB: number('memory.total'),
		memoryReservedMiB: number('memory.reserved'),
		utilizationPercent: number('utilization.gpu'),
		memoryUtilizationPercent: number('utilization.memory'),
		temperatureCelsius,
		temperatureLimitCelsius,
		powerWatts: number('power.draw'),
		powerLimitWatts: number('power.limit'),
		fanPercent: number('fan.speed'),
		smClockMHz: number('clocks.current.sm'),
		memoryClockMHz: number('clocks.current.memory'),
		throttleReasons: reasonBits === undefined ? undefined : throttleWords(reasonBits),
		eccUncorrectedErrors,
		isMigEnabled: read('mig.mode.current', readSwitch),
		...(isPending(cells) && {isMigPending: true}),
		computeMode: text('compute_mode'),
		computeCapability: read('compute_cap', readVersion),
		...health,
		failure,
		unknown,
	});
};

/** Returns the degrees until the GPU slows down. Negative if it has slowed down. */
const readMargin = (text: string): number | undefined => (/^-?\d{1,3}$/v.test(text) ? Number(text) : undefined);

/** Whether MIG was switched on or off, but the change waits for a reset. */
const isPending = (cells: Cells): boolean => {
	const [current, pending] = ['mig.mode.current', 'mig.mode.pending'].map((column) =>
		readSwitch(cells.get(column) ?? ''),
	);
	return current !== undefined && pending !== undefined && current !== pending;
};

const readSwitch = (text: string): boolean | undefined => ({enabled: true, disabled: false})[text.toLowerCase()];

const readVersion = (text: string): string | undefined => (/^\d{1,3}\.\d{1,3}$/v.test(text) ? text : undefined);

const wordsOf = (cells: Cells): readonly ReadingWord[] =>
	[...cells].map(([field, word]) => ({field, word, reading: readingNamed(field)}));
