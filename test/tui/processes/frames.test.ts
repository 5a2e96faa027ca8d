/** Whole screens of the process panel, and of one process with its graphs. */
import {expect, test} from 'vitest';
import type {Size} from '../../../source/tui/state/state.js';
import {frameOf, stateOf, type Step} from '../_harness.js';
import {createCrowd, pastOfCrowd} from './_crowd.js';

const sizes = ['60x15', '80x24', '120x32', '200x50'] as const;

const sizeOf = (name: string): Size => {
	const [columns = 0, rows = 0] = name.split('x').map(Number);
	return {columns, rows};
};

async function frame(size: Size, steps: readonly Step[], isAscii = false): Promise<string> {
	const box = await createCrowd();
	return `\n${frameOf(await stateOf(box, size, {isAscii}, ['focus-processes', ...steps], pastOfCrowd(box)))}\n`;
}

for (const name of sizes) {
	test(`top draws the process panel at ${name}`, async () => {
		await expect(await frame(sizeOf(name), ['line-down', 'toggle-tag'])).toMatchFileSnapshot(
			`frames/${name}/processes.txt`,
		);
	});

	test(`top draws one process with its graphs at ${name}`, async () => {
		await expect(await frame(sizeOf(name), ['open-process'])).toMatchFileSnapshot(`frames/${name}/process.txt`);
	});
}

test('the process panel draws a filtered tree in ASCII, sorted by GPU and memory', async () => {
	const byGpu = ['sort-next', 'sort-next', 'sort-next', 'sort-next', 'sort-next', 'sort-next'] as const;
	const steps: readonly Step[] = [
		...byGpu,
		'toggle-tree',
		'second-sort-previous',
		'open-filter',
		{kind: 'typed', text: 'gpu'},
	];
	const text = await frame(sizeOf('120x32'), steps, true);
	expect(text).toMatch(/^[\n\u{20}-\u{7E}]*$/v);
	await expect(text).toMatchFileSnapshot('frames/120x32/processes-tree.txt');
});
