import {doubtAbout} from '../core/rules/leases/ownership.js';
import {release as releaseGpus} from '../core/operations/reservations.js';
import {CanhazgpuError} from '../errors.js';
import {releaseJson} from '../format/json/change-json.js';
import {harmlessJson} from '../format/text/json.js';
import {partsOfHoldings} from '../format/instances.js';
import {notYoursError} from '../format/owner.js';
import type {Command} from '../command-line/command.js';
import {idsFlag, jsonFlag, labelFlag} from './shared/common-flags.js';
import {namedPartsOf} from './shared/flag-values.js';
import {onFlag, runOnNamedHost} from './shared/hosts/on-flag.js';
import {checkLeft, leaseFlag, meantLeases, nothingFoundText, remarkMissing} from './shared/meant-leases.js';
import {withWorld} from './shared/with-world.js';

export const release: Command = {
	name: 'release',
	summary: 'Release your reservations',
	usage: '[--gpu-ids IDS] [--user NAME | --lease ID]',
	examples: [
		['canhazgpu release', 'all your manual reservations'],
		['canhazgpu release --gpu-ids 1,3', 'only these GPUs, even if your job is using them'],
		['canhazgpu release --gpu-ids 0:1', 'only this MIG instance'],
	],
	flags: {
		'gpu-ids': idsFlag('own-gpus'),
		user: labelFlag,
		lease: leaseFlag,
		json: jsonFlag,
		on: onFlag,
	},
	notes: ['To release reservations made with --user NAME, give the same flag or their GPU ids.'],
	async run(app, input) {
		const exitCode = await runOnNamedHost(app, input, release);
		if (exitCode !== undefined) {
			return exitCode;
		}

		const configured = input.has('lease') ? undefined : input.config.get('release.gpu-ids');
		const named = namedPartsOf(input) ?? (configured && {ids: configured, instances: []});
		const {label, selectionOf} = meantLeases(input, named);
		return withWorld(app, {}, async (world) => {
			const requester = app.requester(label);
			const selection = selectionOf(requester);
			const {released, notYours} = await releaseGpus(world, requester, selection);
			if (notYours.length > 0) {
				throw notYoursError('release', notYours, requester);
			}

			checkLeft(selection, released);
			app.onReleased?.(released);
			if (input.has('json') && (released.length > 0 || doubtAbout(requester) === undefined)) {
				app.print(harmlessJson(releaseJson(released, named)));
			} else if (released.length > 0) {
				app.print(`Released ${partsOfHoldings(released)}`);
				remarkMissing(app, named, released);
			} else {
				const nothing = nothingFoundText(named);
				const doubt = doubtAbout(requester);
				if (doubt !== undefined) {
					// An error, because the caller may hold GPUs under another account, and this process cannot find out which.
					throw new CanhazgpuError('not-found', nothing, {hint: doubt});
				}

				app.print(nothing);
			}

			return 0;
		});
	},
};
