/** Replays the examples of the topic `go` and compares the output. */
import {spawnSync} from 'node:child_process';
import {readFileSync} from 'node:fs';
import {expect, onTestFinished} from 'vitest';
import {createEmbeddedBox, starter, starterText} from '../../_helpers/program/cli.js';
import {slowTest} from '../../_helpers/slow.js';

type Example = {readonly command: string; readonly output: string};

function examplesOf(markdown: string): readonly Example[] {
	const block = /```console\n(?<lines>.*?)```/sv.exec(markdown)?.groups?.['lines'] ?? '';
	return block
		.split(/^\$ /mv)
		.filter((part) => part !== '')
		.map((part) => {
			const end = part.indexOf('\n');
			return {command: part.slice(0, end), output: part.slice(end + 1)};
		});
}

slowTest('every example in the help topic go prints the output that the topic shows', async () => {
	const examples = examplesOf(readFileSync(new URL('../../../source/help/go.md', import.meta.url), 'utf8'));
	expect(examples.length).toBeGreaterThan(15);
	const box = await createEmbeddedBox(4);
	onTestFinished(box.remove);
	const {CANHAZGPU_RUN_QUIET: _, ...environment} = box.environment;
	const words = [starter, ...starterText].map((word) => `'${word}'`).join(' ');
	for (const {command, output} of examples) {
		const {stdout} = spawnSync('bash', ['-c', `canhazgpu() { ${words} "$@"; }; { ${command}; } 2>&1`], {
			cwd: box.home,
			env: environment,
			encoding: 'utf8',
			timeout: 30_000,
		});
		expect([command, stdout]).toEqual([command, output]);
	}
});
