import {cap} from '../tool/text.js';

export type ListedGpu = {
	readonly index: number;
	readonly name: string;
	readonly uuid: string;
	/** MIG devices of the GPU, by number. */
	readonly parts: ReadonlyMap<number, {readonly profile: string; readonly uuid: string}>;
};

/*
    GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-...)
      MIG 3g.40gb     Device  0: (UUID: MIG-...)
*/
const gpuLine = /^GPU (?<index>\d{1,4}): (?<name>.{1,200}) \(UUID: (?<uuid>[\w\-]{1,100})\)$/v;
const partLine = /^\s+MIG (?<profile>\S{1,100})\s+Device\s+(?<device>\d{1,4}): \(UUID: (?<uuid>[\w\-\/]{1,150})\)$/v;

/** Parses `nvidia-smi -L`. Ignores other lines. */
export const parseList = (text: string): readonly ListedGpu[] => {
	const gpus: Array<ListedGpu & {readonly parts: Map<number, {profile: string; uuid: string}>}> = [];
	for (const raw of text.split('\n')) {
		const line = raw.trimEnd();
		const gpu = gpuLine.exec(line)?.groups;
		const part = partLine.exec(line)?.groups;
		if (gpu !== undefined) {
			gpus.push({index: Number(gpu['index']), name: cap(gpu['name']!, 200), uuid: gpu['uuid']!, parts: new Map()});
		} else if (part !== undefined) {
			gpus.at(-1)?.parts.set(Number(part['device']), {profile: part['profile']!, uuid: part['uuid']!});
		}
	}

	return gpus;
};
