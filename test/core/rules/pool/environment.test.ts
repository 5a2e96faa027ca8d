import {describe, expect, test} from 'vitest';
import type {EnvironmentFacts} from '../../../../source/core/model/environment.js';
import {judgeEnvironment} from '../../../../source/core/rules/pool/environment.js';

const complete: EnvironmentFacts = {
	uid: 1000,
	hasAccount: true,
	stateDirectory: '/home/ada/.local/state/canhazgpu',
	canWriteState: true,
	hostname: 'box',
	hasMachineId: true,
	directory: 'usable',
	proc: 'usable',
	temporaryDirectory: {path: '/tmp', state: 'usable'},
	unknownTimeZone: undefined,
	logoutEndsJobs: false,
	lacksTerminalType: false,
};

describe('judgeEnvironment', () => {
	test('finds no problem in a complete environment', () => {
		expect(judgeEnvironment(complete)).toEqual([]);
	});

	test.each<[Partial<EnvironmentFacts>, RegExp]>([
		[{hasAccount: false, uid: 4242}, /^uid 4242 has no entry/v],
		[{stateDirectory: undefined, canWriteState: false}, /^This account has no home directory/v],
		[{canWriteState: false}, /^\/home\/ada\/\S+ cannot be written/v],
		[{hostname: ''}, /no host name/v],
		[{hasMachineId: false}, /machine-id is missing/v],
		[{directory: 'deleted'}, /^The working directory was deleted$/v],
		[{directory: 'unreadable'}, /^The working directory cannot be read/v],
		[{proc: 'absent'}, /^\/proc is not mounted/v],
		[{proc: 'processes-only'}, /^\/proc has no \/proc\/sys/v],
		[{proc: 'own-only'}, /^\/proc hides/v],
		[{temporaryDirectory: {path: '/gone', state: 'absent'}}, /\/gone, does not exist$/v],
		[{temporaryDirectory: {path: '/mnt', state: 'full'}}, /\/mnt, is full$/v],
		[{temporaryDirectory: {path: '/mnt', state: 'unwritable'}}, /\/mnt, cannot be written/v],
		[{unknownTimeZone: 'Mars/Olympus_Mons'}, /TZ=Mars\/Olympus_Mons is unknown/v],
		[{logoutEndsJobs: true}, /^Logging out ends the jobs/v],
		[{lacksTerminalType: true}, /^TERM is not set/v],
	])('returns one warning with a fix for %o', (missing, words) => {
		const findings = judgeEnvironment({...complete, ...missing});
		expect(findings).toEqual([
			{
				check: 'environment',
				level: 'warning',
				words: expect.stringMatching(words) as string,
				fix: expect.stringMatching(/\S/v) as string,
			},
		]);
	});
});
