/** Scans with rocm-smi, for versions of ROCm without amd-smi. Its JSON has an object per card, with sentences as keys and texts as values. */
import type {ProcessRow} from '../tool/process-rows.js';
import type {ToolJson} from '../tool/json.js';
import {isComplete} from '../tool/tool.js';
import {explainAmdFailure, processesWarning} from './failures.js';
import {readGpus} from './gpus.js';
import {isObject, type JsonObject, readIndex, readQuantity, readText, valueAt} from './json.js';
import {numbersForPrograms} from './order.js';
import type {ProcessesByGpu} from './processes.js';
import type {AmdScan, ScanOptions} from './amd-smi.js';

export const createRocmSmi = ({command, question, monotonicMs}: ScanOptions) => {
	const askCards = question(
		[
			'--showproductname',
			'--showuniqueid',
			'--showbus',
			'--showdriverversion',
			'--showmeminfo',
			'vram',
			'gtt',
			'--showuse',
			'--showmemuse',
			'--showtemp',
			'--showpower',
			'--showmaxpower',
			'--showfan',
			'--showclocks',
			'--json',
		],
		['-a', '--showmeminfo', 'vram', 'gtt', '--json'],
	);
	const askPids = question(['--showpids', '--json']);
	// This query prints nothing with --json.
	const askGpusOfPids = question(['--showpidgpus']);

	return async (timeoutMs: number): Promise<AmdScan> => {
		const deadlineMs = monotonicMs() + timeoutMs;
		const [cards, pids, gpusOfPids] = await Promise.all([
			askCards(deadlineMs),
			askPids(deadlineMs),
			askGpusOfPids(deadlineMs),
		]);
		const found = readCards(firstObject(cards.json));
		if (found.metric.size === 0) {
			return {
				failure: explainAmdFailure(cards.outcome, command, timeoutMs),
				isMissing: cards.outcome.failure === 'not-found',
			};
		}

		const processes = isComplete(pids.outcome)
			? readPids(firstObject(pids.json), pids.outcome.stdout, gpusOfPids.outcome.stdout, found.metric.keys().toArray())
			: undefined;
		return {
			gpus: readGpus({...found, fixed: found.metric, list: found.metric}),
			numbers: countedFromZero(numbersForPrograms(found.metric.keys().toArray(), found.metric)),
			driverVersion: found.driverVersion,
			processes,
			warnings: [
				...(cards.json?.remarks ?? []),
				...(processes === undefined ? [processesWarning(pids.outcome, command, timeoutMs)] : []),
			],
		};
	};
};

/** Renumbers AMD's GPUs from 0, as programs do. Before ROCm 3.8, the tool uses the kernel's numbers, which include cards of other vendors. */
const countedFromZero = (numbers: ReadonlyMap<number, number>): ReadonlyMap<number, number> => {
	const inOrder = numbers
		.values()
		.toArray()
		.toSorted((a, b) => a - b);
	return inOrder[0] === 0 ? numbers : new Map([...numbers].map(([index, number]) => [index, inOrder.indexOf(number)]));
};

const firstObject = (json: ToolJson | undefined): unknown => json?.documents.find((document) => isObject(document));

/** Converts each card to amd-smi's format, so that the same code reads the values of both tools. */
export const readCards = (
	value: unknown,
): {readonly metric: ReadonlyMap<number, JsonObject>; readonly driverVersion?: string} => {
	const metric = new Map<number, JsonObject>();
	if (!isObject(value)) {
		return {metric};
	}

	for (const [name, card] of Object.entries(value)) {
		const index = readIndex(/^card(?<index>\d{1,4})$/v.exec(name)?.groups?.['index']);
		if (index !== undefined && isObject(card)) {
			metric.set(index, rewrite(card));
		}
	}

	return {metric, driverVersion: readText(valueAt(value, 'system.Driver version'))};
};

const rewrite = (card: JsonObject): JsonObject => {
	const byName = new Map(Object.entries(card).map(([name, value]) => [name.toLowerCase(), value]));
	const find = (...names: readonly string[]): unknown =>
		names.map((name) => byName.get(name)).find((value) => value !== undefined);
	const bytes = (name: string) => (find(name) === undefined ? undefined : {value: find(name), unit: 'B'});
	const inBrackets = (name: string) => readText(find(name))?.replaceAll(/[\(\)]/gv, '');
	return {
		usage: {gfx_activity: find('gpu use (%)'), umc_activity: find('gpu memory read/write activity (%)')},
		mem_usage: {
			used_vram: bytes('vram total used memory (b)'),
			total_vram: bytes('vram total memory (b)'),
			used_gtt: bytes('gtt total used memory (b)'),
			total_gtt: bytes('gtt total memory (b)'),
		},
		temperature: {
			edge: find('temperature (sensor edge) (c)'),
			hotspot: find('temperature (sensor junction) (c)'),
			mem: find('temperature (sensor memory) (c)'),
		},
		power: {
			socket_power: find('average graphics package power (w)', 'current socket graphics package power (w)'),
			power_limit: find('max graphics package power (w)'),
		},
		fan: {usage: find('fan speed (%)')},
		clock: {gfx_0: {clk: inBrackets('sclk clock speed:')}, mem_0: {clk: inBrackets('mclk clock speed:')}},
		asic: {
			market_name: ['card series', 'device name', 'card model', 'card sku']
				.map((name) => readText(find(name)))
				.find((text) => text !== undefined),
		},
		bdf: find('pci bus'),
		uuid: find('unique id'),
		node_id: find('node id'),
	};
};

/**
Parses `{"system": {"PID4711": "python3, 1, 123456, 0, 0"}}`: name, number of GPUs, total VRAM in bytes, and more. The answer to `--showpidgpus`
contains the GPUs of each process. A process that is missing in that answer may be on any GPU.
*/
export const readPids = (
	value: unknown,
	text: string,
	gpusOfPids: string,
	indices: readonly number[],
): ProcessesByGpu | undefined => {
	const system = isObject(value) ? value['system'] : undefined;
	const listed = Object.entries(isObject(system) ? system : {}).flatMap(([key, raw]) => {
		const pid = /^pid\s*(?<pid>[1-9]\d{0,9})$/iv.exec(key)?.groups?.['pid'];
		return pid === undefined ? [] : [readPid(Number(pid), String(raw))];
	});
	// If there are no processes, the tool says so or reports that it has no data.
	if (listed.length === 0 && !/no json data|no kfd pids/iv.test(text) && !isObject(value)) {
		return undefined;
	}

	const indicesByPid = readGpusOfPids(gpusOfPids);
	const rows = new Map<number, ProcessRow[]>(indices.map((index) => [index, []]));
	let isSomeUnplaced = false;
	for (const process of listed) {
		const gpus = indicesByPid.get(process.pid) ?? (indices.length === 1 ? indices : undefined);
		isSomeUnplaced ||= gpus === undefined;
		for (const index of gpus ?? []) {
			rows.get(index)?.push(gpus?.length === 1 ? process : {...process, memoryUsedMiB: undefined});
		}
	}

	const hidden = isSomeUnplaced ? 'a process whose GPU is unknown' : undefined;
	return new Map([...rows].map(([index, list]) => [index, {rows: list, hidden}]));
};

const readPid = (pid: number, raw: string): ProcessRow => {
	const cells = raw.split(',').map((cell) => cell.trim());
	// The name is the first cell and can contain commas, so cells are counted from the end.
	const memory = readQuantity(cells.at(-3), 'memory', 'B');
	return {
		pid,
		program: readText(cells.slice(0, -4).join(', ')),
		memoryUsedMiB: memory?.kind === 'number' ? memory.value : undefined,
	};
};

const readGpusOfPids = (text: string): ReadonlyMap<number, readonly number[]> => {
	const indicesByPid = new Map<number, readonly number[]>();
	for (const {groups} of text.matchAll(
		/^pid (?<pid>\d{1,10}) is using (?<count>\d{1,4}) drm device\(s\)(?::\n(?<list>(?:\d+ *\n?)+))?/gimv,
	)) {
		const {pid, count, list = ''} = groups ?? {};
		const indices = list.trim() === '' ? [] : list.trim().split(/\s+/v).map(Number);
		if (indices.length === Number(count)) {
			indicesByPid.set(Number(pid), indices);
		}
	}

	return indicesByPid;
};
