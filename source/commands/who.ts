import {holdingsOn} from '../core/rules/leases/holdings.js';
import {ownerOf} from '../core/rules/leases/ownership.js';
import {reportHolders, type HoldersReport} from '../core/rules/pool/memory-holders.js';
import {idWordsOf, isGpuId} from '../core/rules/request/gpu-ids.js';
import {requirePool} from '../core/rules/pool/pool.js';
import {CanhazgpuError, quoted} from '../errors.js';
import {holdersJson, holdersText} from '../format/tables/holders.js';
import {harmlessJson} from '../format/text/json.js';
import type {OpenWorld} from '../app/contract.js';
import type {Command, Input} from '../command-line/command.js';
import {requireLocal} from '../core/operations/engine.js';
import {idsFlag, jsonFlag} from './shared/common-flags.js';
import {idsOf} from './shared/flag-values.js';
import {withWorld} from './shared/with-world.js';

function askedIds(input: Input): readonly number[] {
	const typed = input.words.flatMap((word) => idWordsOf(word));
	const wrong = typed.find((word) => !isGpuId(word));
	if (wrong !== undefined) {
		throw new CanhazgpuError('usage', `${quoted(wrong)} is not a GPU id`, {hint: 'For example: canhazgpu who 3'});
	}

	const ids = [...new Set([...typed.map(Number), ...(idsOf(input) ?? [])])];
	if (ids.length === 0) {
		throw new CanhazgpuError('usage', 'who needs the id of a GPU', {hint: 'For example: canhazgpu who 3'});
	}

	return ids;
}

type GpuHolders = {readonly report: HoldersReport; readonly reservedBy: readonly string[]};

async function findHolders(world: OpenWorld, ids: readonly number[]): Promise<readonly GpuHolders[]> {
	const scanning = world.gpus.observe();
	const snapshot = await world.store.read();
	const {gpuCount} = requirePool(snapshot, world.host, world.store);
	const beyond = ids.find((id) => id >= gpuCount);
	if (beyond !== undefined) {
		await scanning;
		throw new CanhazgpuError(
			'impossible',
			`There is no GPU ${beyond}: the pool has ${gpuCount}, from 0 to ${gpuCount - 1}`,
		);
	}

	const {gpus, failure} = await scanning;
	if (failure !== undefined) {
		throw new CanhazgpuError('provider', failure.message, {hint: failure.hint});
	}

	return Promise.all(
		ids.map(async (index): Promise<GpuHolders> => {
			const reading = gpus.find((gpu) => gpu.index === index) ?? {index, processes: undefined, unknown: {}};
			const pids = (reading.processes ?? []).map(({pid}) => pid);
			const seen = await world.findDeviceHolders(reading, pids);
			return {
				report: reportHolders(reading, seen, world.memoryThresholdMiB),
				reservedBy: [...new Set(holdingsOn(snapshot.gpus[index]).map(({lease}) => ownerOf(lease)))],
			};
		}),
	);
}

export const who: Command = {
	name: 'who',
	summary: 'Find the processes that use a GPU, even if the GPU tool lists none',
	usage: 'GPU... [--json]',
	examples: [
		['canhazgpu who 3', 'the processes that have GPU 3 open'],
		['sudo canhazgpu who 3', 'the same, including processes of all other accounts'],
	],
	flags: {'gpu-ids': {...idsFlag('gpus'), summary: 'only these GPUs, such as 1,3 or 0-3'}, json: jsonFlag},
	notes: [
		'who reads the open files of all processes that your account can inspect, and counts the others.',
		'This command ends no processes and resets no GPUs.',
	],
	takesWords: true,
	takesSeveralWords: true,
	words: 'gpus',
	async run(app, input) {
		const ids = askedIds(input);
		return withWorld(app, {willScan: true}, async (world) => {
			requireLocal(world, 'who');
			const found = await findHolders(world, ids);
			app.print(
				input.has('json')
					? harmlessJson(found.map(({report, reservedBy}) => holdersJson(report, reservedBy)))
					: found.map(({report, reservedBy}) => holdersText(report, reservedBy, app.paint, app.columns)).join('\n\n'),
			);
			return 0;
		});
	},
};
