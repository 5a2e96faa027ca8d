import {CanhazgpuError} from '../../errors.js';
import type {Command} from '../../command-line/command.js';
import {jsonFlag} from '../../command-line/flags.js';
import {harmlessJson} from '../../format/text/json.js';
import {changeDrains, isAboutDrains} from './drain.js';

export const admin: Command = {
	name: 'admin',
	summary: 'Make the pool of GPUs that everybody shares, or take GPUs out of service',
	usage: '[--gpus N] [--provider NAME] [--store STORE] [--force] | --drain IDS [--reason TEXT] | --undrain IDS',
	examples: [
		['canhazgpu admin', 'a pool of the GPUs that are there'],
		['canhazgpu admin --gpus 8 --provider fake', 'eight simulated GPUs'],
		['sudo canhazgpu admin --store embedded', 'for a box without Redis'],
		['canhazgpu admin --drain 3 --reason "fan is dead"', 'nobody new gets GPU 3'],
		['canhazgpu admin --undrain 3', 'and they may again'],
	],
	flags: {
		gpus: {short: 'g', value: 'N', summary: 'how many GPUs (counted, where they can be)', setting: 'admin.gpus'},
		provider: {short: 'p', value: 'NAME', summary: 'nvidia, amd or fake (detected)', setting: 'admin.provider'},
		group: {value: 'NAME', summary: 'embedded: only members of this group may use the pool', setting: 'admin.group'},
		force: {summary: 'replace the pool that is there; ends all its reservations'},
		drain: {value: 'IDS', summary: 'take these GPUs out of service; their holders keep them', completes: 'gpus'},
		undrain: {value: 'IDS', summary: 'put these GPUs back into service', completes: 'drained-gpus'},
		reason: {value: 'TEXT', summary: 'why; everybody sees it'},
		json: jsonFlag,
	},
	async run(app, input) {
		if (isAboutDrains(input)) {
			return changeDrains(app, input);
		}

		const given = input.config.get('admin.gpus');
		const wantedProvider = input.config.get('admin.provider');
		const detected = await app.detect(wantedProvider);
		const gpuCount = given ?? (detected.provider === undefined ? undefined : detected.gpuCount);
		if (gpuCount === undefined) {
			const reason = detected.provider === undefined ? `: ${detected.reason}` : '';
			throw new CanhazgpuError('provider', `No GPUs were found here${reason}`, {
				hint: 'Fix that, or say how many to simulate: canhazgpu admin --gpus 8 --provider fake',
			});
		}

		const provider = wantedProvider ?? detected.provider ?? 'fake';
		const place = await app.openPoolPlace();
		try {
			for (const repair of place.repairs) {
				app.remark(repair);
			}

			const {pool, droppedLeases, wasThere} = await place.make({gpuCount, provider, force: input.has('force')});
			if (input.has('json')) {
				app.print(
					harmlessJson({
						gpu_count: pool.gpuCount,
						provider: pool.provider,
						location: place.location,
						was_there: wasThere === true,
						ended_reservations: droppedLeases,
					}),
				);
			} else {
				const what = `pool of ${pool.gpuCount} GPU(s) (${pool.provider}) in ${place.location}`;
				app.print(
					wasThere ? `The ${what} was there already; everybody on this machine finds it now` : `Made a ${what}`,
				);
				if (droppedLeases > 0) {
					app.print(`Ended ${droppedLeases} reservation(s) of the pool before it`);
				}
			}

			if (provider === 'fake' && wantedProvider === undefined) {
				app.remark('No GPUs were found here: these are SIMULATED. With real ones, run admin again with --force.');
			} else if (
				detected.provider !== undefined &&
				given !== undefined &&
				given !== detected.gpuCount &&
				provider !== 'fake'
			) {
				app.remark(`Warning: this machine has ${detected.gpuCount} GPU(s), the pool ${given}.`);
			}

			if (place.privateLabel !== undefined) {
				app.remark(place.privateLabel);
			}

			return 0;
		} finally {
			await place.close();
		}
	},
};
