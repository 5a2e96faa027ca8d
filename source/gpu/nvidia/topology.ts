import {stripVTControlCharacters} from 'node:util';
import type {GpuLink, GpuLinks} from '../../core/model/types.js';

const linkPattern = /^(?:NV[1-9]\d{0,2}|PIX|PXB|PHB|NODE|SYS)$/v;

const mostGpus = 1024;

const gpuIndex = (cell: string): number | undefined => {
	const index = /^GPU(?<index>\d{1,4})$/v.exec(cell)?.groups?.['index'];
	return index === undefined || Number(index) >= mostGpus ? undefined : Number(index);
};

const isLink = (cell: string | undefined): cell is GpuLink => cell !== undefined && linkPattern.test(cell);

/*
    	GPU0	GPU1	NIC0	CPU Affinity	NUMA Affinity	GPU NUMA ID
    GPU0	 X 	NV18	PIX	0-55	0		N/A
    GPU1	NV18	 X 	SYS	0-55	0		N/A
*/

/** Parses `nvidia-smi topo -m`: a table with tabs, and a header underlined by escapes. Ignores network cards and CPUs. Undefined without a table. */
export function parseTopology(text: string): GpuLinks | undefined {
	const lines = stripVTControlCharacters(text).split('\n');
	const rows = lines.map((line) => line.split('\t').map((cell) => cell.trim()));
	const head = rows.find(([first, second]) => first === '' && second !== undefined && gpuIndex(second) !== undefined);
	if (head === undefined) {
		return undefined;
	}

	const columns = head.map((cell) => gpuIndex(cell));
	const links: Array<Array<GpuLink | undefined> | undefined> = [];
	for (const [name = '', ...cells] of rows) {
		const index = gpuIndex(name);
		if (index === undefined) {
			continue;
		}

		const row: Array<GpuLink | undefined> = [];
		for (const [column, cell] of cells.entries()) {
			const other = columns[column + 1];
			if (other !== undefined && other !== index && isLink(cell)) {
				row[other] = cell;
			}
		}

		links[index] = row;
	}

	// Rows and columns of unlisted GPUs are unknown.
	return Array.from(links, (row = []) => [...row]);
}
