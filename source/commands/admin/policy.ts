import {requirePool} from '../../core/rules/pool/pool.js';
import {isLimitOfRoot} from '../../core/rules/limits/limits.js';
import {definitionOf, policyKeyNames} from '../../core/rules/policy/keys.js';
import {limitKeyFor, limitNames, namedLimitOf, type NamedLimit} from '../../core/rules/policy/limit-keys.js';
import {unknownKey, type PolicyChange} from '../../core/rules/policy/policy-changes.js';
import {changePolicy, replacePolicy} from '../../core/operations/pool/policy.js';
import {readForDisplay} from '../../core/operations/transact.js';
import {CanhazgpuError, quoted} from '../../errors.js';
import {policyChangesJson, policyChangesText, policyJson, policyTable} from '../../format/tables/policy-table.js';
import {policyProblemText} from '../../format/policy.js';
import {harmlessJson} from '../../format/text/json.js';
import type {App} from '../../app/contract.js';
import type {Input} from '../../command-line/command.js';
import {nearest} from '../../command-line/suggestions.js';
import {withWorld} from '../shared/with-world.js';
import {isAboutDrains, refuseMaking} from './drain.js';

export const isAboutPolicy = (input: Input): boolean => ['policy', 'set', 'unset'].some((flag) => input.has(flag));

/** The word that `--unset` accepts instead of a key. It resets every key that is not set in the same call, and replaces a policy record that cannot be read. */
const allKeys = 'all';

function keysLike(key: string): readonly string[] {
	const {kind, name} = /^limits\.(?<kind>user|group)\.(?<name>.+)\.[^.]*$/v.exec(key)?.groups ?? {};
	return name === undefined
		? policyKeyNames
		: limitNames.map((limit) => limitKeyFor({kind: kind as NamedLimit['kind'], name, limit}));
}

async function checkNames(app: App, changes: readonly PolicyChange[]): Promise<void> {
	for (const {key, value} of changes) {
		const named = value === undefined ? undefined : namedLimitOf(key);

		if (named !== undefined && !(await app.isKnownName(named))) {
			const {kind, name} = named;
			const what = kind === 'user' ? 'account' : 'group';
			throw new CanhazgpuError('usage', `${key}: there is no ${what} ${quoted(name)} on this machine`, {
				hint: `Nothing was changed. See the names: getent ${kind === 'user' ? 'passwd' : 'group'}`,
			});
		}
	}
}

function settingOf(typed: string): PolicyChange {
	const [key, value] = typed.split(/[=](?<value>.*)/sv, 2).map((part) => part.trim());
	if (key === undefined || key === '' || value === undefined || value === '') {
		throw new CanhazgpuError('usage', `--set ${quoted(typed)} needs a key and a value`, {
			hint: `Write --set KEY=VALUE. The keys are: ${policyKeyNames.join(', ')}`,
		});
	}

	if (definitionOf(key) === undefined) {
		throw unknownKey(key, nearest(key, keysLike(key)));
	}

	return {key, value};
}

/** Returns the change that resets a key. Accepts any key, because a later version of canhazgpu may have set it. */
const unsettingOf = (typed: string): PolicyChange => ({key: typed.trim(), value: undefined});

function changesOf(input: Input): readonly PolicyChange[] {
	const changes = [
		...input.texts('set').map((typed) => settingOf(typed)),
		...input.texts('unset').map((typed) => unsettingOf(typed)),
	];
	const twice = changes.find(({key}, index) => changes.findIndex((other) => other.key === key) !== index);
	if (twice !== undefined) {
		throw new CanhazgpuError('usage', `The key ${quoted(twice.key)} is named twice`, {hint: 'Name each key once.'});
	}

	return changes;
}

async function showPolicy(app: App, input: Input): Promise<number> {
	return withWorld(app, {}, async (world) => {
		const snapshot = await readForDisplay(world);
		requirePool(snapshot, world.host, world.store);
		if (input.has('json')) {
			app.print(harmlessJson(policyJson(snapshot)));
			return 0;
		}

		app.print(policyTable(snapshot, app.paint, app.columns));
		const problem = policyProblemText(snapshot);
		if (problem !== undefined) {
			app.remark(`Warning: ${problem}`);
		}

		return 0;
	});
}

export async function showOrChangePolicy(app: App, input: Input): Promise<number> {
	refuseMaking(input, '--policy, --set and --unset show or change the policy of the existing pool');
	if (isAboutDrains(input)) {
		throw new CanhazgpuError('usage', '--drain and --undrain cannot be combined with --policy, --set or --unset', {
			hint: 'Use two commands.',
		});
	}

	if (input.has('policy')) {
		if (input.has('set') || input.has('unset')) {
			throw new CanhazgpuError(
				'usage',
				'--policy only shows the policy, so it cannot be combined with --set or --unset',
				{
					hint: 'Leave out one of them.',
				},
			);
		}

		return showPolicy(app, input);
	}

	const changes = changesOf(input);
	const removesAll = changes.some(({key}) => key === allKeys);
	const asked = changes.filter(({key}) => key !== allKeys);
	await checkNames(app, asked);
	if (removesAll && asked.some(({value}) => value === undefined)) {
		throw new CanhazgpuError('usage', '--unset all already removes every key', {
			hint: 'Leave out the other --unset. To keep a key, set it again with --set KEY=VALUE.',
		});
	}

	return withWorld(app, {}, async (world) => {
		const requester = app.requester(undefined);
		const changed = await (removesAll ? replacePolicy : changePolicy)(world, requester, asked);
		app.print(input.has('json') ? harmlessJson(policyChangesJson(changed)) : policyChangesText(changes, changed));
		for (const {key, value} of asked) {
			if (value !== undefined && isLimitOfRoot(key)) {
				app.remark(
					`Warning: ${key} has no effect, because root has no limits. Remove it: canhazgpu admin --unset ${key}`,
				);
			}
		}

		return 0;
	});
}
