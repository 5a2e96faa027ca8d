import {CanhazgpuError} from '../../errors.js';
import {providerNames} from '../../core/model/observation.js';
import type {ProviderName} from '../../core/model/types.js';
import type {PoolMade} from '../../core/operations/pool/create-pool.js';
import {readForDisplay} from '../../core/operations/transact.js';
import type {App} from '../../app/contract.js';
import type {Command, Input} from '../../command-line/command.js';
import {jsonFlag} from '../shared/common-flags.js';
import {movedTexts} from '../../format/moved-pool.js';
import {harmlessJson} from '../../format/text/json.js';
import {policyKeyNames, policyKeys} from '../../core/rules/policy/keys.js';
import {withWorld} from '../shared/with-world.js';
import {changeDrains, isAboutDrains} from './drain.js';
import {isAboutPolicy, showOrChangePolicy} from './policy.js';

type Found = {
	readonly provider: ProviderName;
	readonly gpuCount: number;
	readonly found: number;
};

/** Returns the existing pool, for the error message if no GPU is found. Ignores private pools. */
async function existingPool(app: App): Promise<{readonly gpuCount: number; readonly location: string} | undefined> {
	try {
		return await withWorld(app, {}, async (world) => {
			const {pool} = world.privateLabel === undefined ? await readForDisplay(world) : {};
			return pool && {gpuCount: pool.gpuCount, location: world.store.location};
		});
	} catch (error) {
		if (error instanceof CanhazgpuError) {
			return undefined;
		}

		throw error;
	}
}

/** Returns the provider and number of GPUs of a new pool. Never guesses `fake`, whose GPUs are not scanned. */
async function whatIsThere(app: App, {config, has}: Input): Promise<Found> {
	const wanted = config.get('admin.provider');
	const given = config.get('admin.gpus');
	const detected = await app.detect(wanted);
	if (detected.provider === undefined) {
		const pool = has('force') ? undefined : await existingPool(app);
		if (pool !== undefined) {
			throw new CanhazgpuError('pool-exists', `A pool of ${pool.gpuCount} GPU(s) already exists in ${pool.location}`, {
				hint: 'Nothing was changed. --force replaces the pool and ends all its reservations.',
			});
		}

		throw new CanhazgpuError('provider', `No GPUs were found here: ${detected.reason}`, {
			hint: `Fix that, or use simulated GPUs: canhazgpu admin --gpus ${given ?? 8} --provider fake${config.get('store') === 'embedded' ? ' --store embedded' : ''}`,
		});
	}

	const {provider, gpuCount, others} = detected;
	if (wanted === undefined && others.length > 0) {
		throw new CanhazgpuError(
			'provider',
			`This machine has GPUs of several kinds: ${[provider, ...others].join(' and ')}`,
			{hint: `A pool has GPUs of one kind. Choose one: canhazgpu admin --provider ${provider}`},
		);
	}

	return {provider, gpuCount: given ?? gpuCount, found: gpuCount};
}

/** Prints the pool that `admin` has created or found. `outcome` is about a pool that already existed. */
function printPool(
	app: App,
	input: Input,
	{pool, droppedLeases, wasThere, location}: PoolMade & {readonly location: string},
	outcome: string,
): void {
	if (input.has('json')) {
		app.print(
			harmlessJson({
				gpu_count: pool.gpuCount,
				provider: pool.provider,
				location,
				was_there: wasThere === true,
				ended_reservations: droppedLeases,
			}),
		);
		return;
	}

	const what = `pool of ${pool.gpuCount} GPU(s) (${pool.provider}) in ${location}`;
	app.print(wasThere ? `The ${what} already existed. ${outcome}` : `Created a ${what}`);
	if (droppedLeases > 0) {
		app.print(`Ended ${droppedLeases} reservation(s) of the replaced pool`);
	}
}

export const admin: Command = {
	name: 'admin',
	summary: 'Create the shared pool, take GPUs out of service, set the policy',
	usage:
		'[--gpus N] [--provider NAME] [--store STORE] [--force] | --drain IDS [--reason TEXT] | --undrain IDS | --policy | --set KEY=VALUE... [--unset KEY...]',
	examples: [
		['canhazgpu admin', 'create a pool of all GPUs in this machine'],
		['canhazgpu admin --gpus 8 --provider fake', 'create a pool of eight simulated GPUs'],
		['sudo canhazgpu admin --store embedded', 'create a pool on a machine without Redis'],
		['canhazgpu admin --drain 3 --reason "fan is dead"', 'stop granting GPU 3'],
		['canhazgpu admin --undrain 3', 'grant GPU 3 again'],
		['canhazgpu admin --policy', 'show the policy'],
		['canhazgpu admin --set strategy=lru', 'prefer the GPU that was used least recently'],
	],
	flags: {
		gpus: {shortFlag: 'g', value: 'N', summary: 'number of GPUs (default: all that are found)', setting: 'admin.gpus'},
		provider: {
			shortFlag: 'p',
			value: 'NAME',
			summary: `${new Intl.ListFormat('en-GB', {type: 'disjunction'}).format(providerNames)} (default: detected)`,
			setting: 'admin.provider',
		},
		group: {
			value: 'NAME',
			summary: 'embedded store: only members of this group can use the pool; ALL lets all accounts use it again',
			setting: 'admin.group',
		},
		force: {summary: 'replace the existing pool and end all its reservations'},
		drain: {
			value: 'IDS',
			summary: 'take these GPUs out of service; current holders keep them',
			isMultiple: true,
			completes: 'gpus',
		},
		undrain: {value: 'IDS', summary: 'put these GPUs back into service', isMultiple: true, completes: 'drained-gpus'},
		reason: {value: 'TEXT', summary: 'the reason for --drain; everyone can see it'},
		policy: {summary: 'show the policy'},
		set: {
			value: 'KEY=VALUE',
			summary: 'set a policy key; can be repeated',
			isMultiple: true,
			completes: policyKeyNames.flatMap((key) => policyKeys[key].completes.map((value) => `${key}=${value}`)),
			completesAlso: 'named-limits',
		},
		unset: {
			value: 'KEY',
			summary: 'reset this policy key to its default; all resets every key that is not set by --set',
			isMultiple: true,
			completes: 'policy-keys',
		},
		json: jsonFlag,
	},
	async run(app, input) {
		const engine = await app.foreignEngine();
		if (engine !== undefined) {
			throw engine.refusalOf(isAboutPolicy(input) ? 'policy' : isAboutDrains(input) ? 'drain' : 'pool');
		}

		if (isAboutPolicy(input)) {
			return showOrChangePolicy(app, input);
		}

		if (isAboutDrains(input)) {
			return changeDrains(app, input);
		}

		const isNew = ['gpus', 'provider', 'force'].some((flag) => input.has(flag));
		const adjusted = isNew ? undefined : await app.adjustPool(input.has('group'));
		if (adjusted !== undefined) {
			for (const repair of adjusted.repairs) {
				app.remark(repair);
			}

			printPool(app, input, adjusted, 'Its reservations were kept');
			return 0;
		}

		const {gpuCount, provider, found} = await whatIsThere(app, input);
		const location = await app.openPoolLocation();
		try {
			for (const repair of location.repairs) {
				app.remark(repair);
			}

			const {moved, warning, ...made} = await location.make({gpuCount, provider, force: input.has('force')});
			printPool(
				app,
				input,
				{...made, location: location.location},
				location.hasNewGroup ? 'Its reservations were kept' : 'Everyone on this machine uses it now',
			);

			for (const text of moved === undefined ? [] : movedTexts(moved)) {
				app.remark(text);
			}

			if (warning !== undefined) {
				app.remark(warning);
			}

			if (found !== gpuCount && provider !== 'fake') {
				app.remark(`Warning: this machine has ${found} GPU(s), but the pool has ${gpuCount}.`);
			}

			if (location.privateLabel !== undefined) {
				app.remark(location.privateLabel);
			}

			return 0;
		} finally {
			await location.close();
		}
	},
};
