/**
Every command works without a user name and a home, and `doctor` names what is missing. `test/long` runs every
combination.
*/
import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import {
	canLackFacts,
	createMachine,
	missingFacts,
	type Machine,
	type Place,
} from '../_helpers/machine/missing-facts.js';
import {everyNth, slowTest} from '../_helpers/slow.js';

const factNamed = (wanted: string) => missingFacts.find(({name}) => name === wanted)!;

describe.runIf(canLackFacts())('on a machine with missing system information', () => {
	let machine: Machine;
	let place: Place;

	beforeAll(() => {
		machine = createMachine();
		place = machine.makePlace();
	});

	afterAll(() => {
		machine.remove();
	});

	slowTest('every command works without a home directory and a user name', async () => {
		for (const [typed, exitCode, words] of [
			['status', 0, ''],
			['reserve --short -d 1h', 0, ''],
			['extend -d 1h', 0, ''],
			['run -- true', 0, ''],
			['queue', 0, ''],
			['who 0', 0, ''],
			['report', 0, ''],
			['events', 0, ''],
			['release', 0, ''],
			['top --once', 0, ''],
			['completion bash', 0, ''],
			['--complete bash status --config ~/', 0, ''],
			['admin --gpus 4 --provider fake', 4, 'Error: This account has no home directory for a private pool'],
			['status --remote nowhere', 1, 'ssh needs an account with a name'],
		] as const) {
			const {stderr, ...ran} = await machine.run(factNamed('home and user name'), place, typed.split(' '));
			expect({typed, exitCode: ran.exitCode, stderr}).toEqual({
				typed,
				exitCode,
				stderr: expect.stringContaining(words) as string,
			});
			expect(stderr).not.toMatch(/bug|^ +at /mv);
		}
	});

	test.each(
		everyNth(
			[
				['home and user name', [/uid 4242 has no entry in the user database/v, /has no home directory/v]],
				['home: relative', [/has no home directory/v]],
				['home: named, absent', [/\/nonexistent\/\S+ cannot be written/v]],
				['host name', [/no host name/v]],
				['directory: deleted', [/The working directory was deleted/v]],
				['directory: unreadable', [/The working directory cannot be read/v]],
				['TZ: unknown', [/TZ=Mars\/Olympus_Mons is unknown/v]],
				['TMPDIR: absent', [/\/nonexistent, does not exist/v]],
				['TMPDIR: full', [/\/mnt, is full/v]],
				['/proc: hidepid', [/\/proc hides the processes of other accounts/v]],
				['/proc: processes only', [/\/proc has no \/proc\/sys/v]],
				['/proc', [/\/proc is not mounted/v]],
				['/etc/machine-id', [/\/etc\/machine-id is missing/v]],
			] as const,
			4,
		),
	)('doctor names what is missing or wrong: %s', async (name, findings) => {
		const {exitCode, stdout} = await machine.run(factNamed(name), place, ['doctor']);
		expect(exitCode).toBe(0);
		for (const words of findings) {
			expect(stdout).toMatch(words);
		}
	});
});
