import type {GpuLink, GpuLinks} from '../../core/model/types.js';
import {entriesByGpu, isObject, readIndex, readText, type JsonObject} from './json.js';

type Pair = {readonly one: number; readonly other: number; readonly type: unknown; readonly hops: unknown};

/** Hops from a GPU via its processor to another GPU. More hops mean another processor. */
const hopsAtOneProcessor = 2;

function linkOf({type, hops}: Pair): GpuLink | undefined {
	const count = readIndex(hops);
	const word = readText(type)?.toUpperCase();
	if (word === 'XGMI') {
		return 'XGMI';
	}

	return word === 'PCIE' && count !== undefined ? (count <= hopsAtOneProcessor ? 'PHB' : 'SYS') : undefined;
}

/** Returns the links. `numbers` maps the tool's numbers to those that programs use. */
function linksFrom(reported: readonly Pair[], numbers: ReadonlyMap<number, number>): GpuLinks | undefined {
	const links: Array<Array<GpuLink | undefined>> = [];
	for (const pair of reported) {
		const link = linkOf(pair);
		const [one, other] = [pair.one, pair.other].map((index) => numbers.get(index) ?? index);
		if (one === other || link === undefined) {
			continue;
		}

		// Some tools report each pair only once.
		for (const [from, to] of [
			[one!, other!],
			[other!, one!],
		] as const) {
			links[from] ??= [];
			links[from][to] = link;
		}
	}

	return links.length === 0
		? undefined
		: Array.from(links, (row) => Array.from({length: links.length}, (_, other) => row?.[other]));
}

/** Parses a GPU's links from before ROCm 6.3: `{"link_type": {"gpu_1": "XGMI"}, "hops": {"gpu_1": 1}}`. */
const oldPairs = (one: number, entry: JsonObject): readonly Pair[] => {
	const {link_type: types, hops = entry['num_hops']} = entry;
	return Object.entries(isObject(types) ? types : {}).flatMap(([name, type]) => {
		const other = readIndex(/^gpu_(?<index>\d{1,4})$/v.exec(name)?.groups?.['index']);
		return other === undefined ? [] : [{one, other, type, hops: isObject(hops) ? hops[name] : undefined}];
	});
};

/** Parses a GPU's links since ROCm 6.3: `{"links": [{"gpu": 1, "link_type": "XGMI", "num_hops": 1}]}`. */
const newPairs = (one: number, {links}: JsonObject): readonly Pair[] =>
	(Array.isArray(links) ? links : []).flatMap((link: unknown) => {
		const other = isObject(link) ? readIndex(link['gpu']) : undefined;
		return isObject(link) && other !== undefined ? [{one, other, type: link['link_type'], hops: link['num_hops']}] : [];
	});

/** Reads `amd-smi topology --json`. Undefined without links. */
export const readAmdSmiLinks = (
	documents: readonly unknown[] | undefined,
	numbers: ReadonlyMap<number, number>,
): GpuLinks | undefined =>
	linksFrom(
		[...(entriesByGpu(documents) ?? [])].flatMap(([one, entry]) => [...newPairs(one, entry), ...oldPairs(one, entry)]),
		numbers,
	);

const pairPattern =
	/^\(topology\) (?<what>link type|hops) between drm devices (?<one>\d{1,4}) and (?<other>\d{1,4})$/iv;

/** Reads `rocm-smi --showtopo --json`, which has sentences about each pair of GPUs in `system`. Undefined without links. */
export function readRocmSmiLinks(value: unknown, numbers: ReadonlyMap<number, number>): GpuLinks | undefined {
	const system = isObject(value) ? value['system'] : undefined;
	const sentences = Object.entries(isObject(system) ? system : {}).flatMap(([sentence, reported]) => {
		const {what = '', one, other} = pairPattern.exec(sentence)?.groups ?? {};
		return one === undefined ? [] : [{what: what.toLowerCase(), one: Number(one), other: Number(other), reported}];
	});
	const hops = new Map(
		sentences.filter(({what}) => what === 'hops').map(({one, other, reported}) => [`${one} ${other}`, reported]),
	);
	return linksFrom(
		sentences
			.filter(({what}) => what === 'link type')
			.map(({one, other, reported}) => ({one, other, type: reported, hops: hops.get(`${one} ${other}`)})),
		numbers,
	);
}
