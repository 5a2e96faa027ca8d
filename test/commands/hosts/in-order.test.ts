import {setTimeout as sleep} from 'node:timers/promises';
import {expect, test} from 'vitest';
import {inOrder} from '../../../source/commands/status/hosts.js';

test('status --all ends as soon as all hosts have answered', async () => {
	const waits: AbortSignal[] = [];
	const shown: string[] = [];
	// The wait for slow hosts ends only if it is given up.
	const forever = async (_: number, signal?: AbortSignal): Promise<void> => {
		waits.push(signal!);
		await sleep(2 ** 30, undefined, {signal});
	};

	await inOrder([Promise.resolve('first'), Promise.resolve('second')], forever, (name) => {
		shown.push(name);
	});
	expect(shown).toEqual(['first', 'second']);
	expect(waits.map(({aborted}) => aborted)).toEqual([true]);
});
