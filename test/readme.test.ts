/** What the readme and the help tell people to type is understood as it stands. */
import {readFileSync} from 'node:fs';
import {describe, expect, test} from 'vitest';
import {findCommand, verbs} from '../source/command-line/arguments.js';
import {mainHelp} from '../source/command-line/help.js';
import {understand} from '../source/main.js';
import {shellWords} from '../source/format/text/shell.js';

const readme = readFileSync(new URL('../readme.md', import.meta.url), 'utf8');

const call = /(?<![^\s'\(;])(?:canhazgpu|chg) (?<words>(?:"[^"]*"|[^"\u{26}'\)>\|])+)/gv;
const block = /```sh\n(?<code>.*?)```/gsv;
const inlineCode = /`(?<code>[^`]+)`/gv;

const groupsOf = (text: string, pattern: RegExp, name: string): readonly string[] =>
	text
		.matchAll(pattern)
		.map((match) => match.groups![name]!.trim())
		.toArray();

/** Calls of the program within shell lines, up to what is the shell's own. */
const callsIn = (code: string): readonly string[] =>
	code.split('\n').flatMap((line) => groupsOf(line.replace(/#.*/v, ''), call, 'words'));

const blocks = groupsOf(readme, block, 'code');
const inline = groupsOf(readme.replaceAll(/```.*?```/gsv, ''), inlineCode, 'code')
	.map((code) => code.replaceAll('\n', ' '))
	.filter((code) => !code.includes('VERB'));
const calls = [...blocks, ...inline].flatMap((code) => callsIn(code));

test('the readme shows how to call the program', () => {
	expect(calls.length).toBeGreaterThan(40);
	expect(calls).toContain('admin --drain 3 --reason "fan is dead"');
	expect(calls).toContain('reserve --gpus 2 --duration 12h --short');
});

test.each([...new Set(calls)])('readme: canhazgpu %s', async (typed) => {
	expect(await understand(shellWords(typed))).toBeTruthy();
});

describe.each(verbs)('help of %s', (verb) => {
	test('names no flag that there is not, and shows calls that are understood', async () => {
		const {usage, flags, examples} = await findCommand(verb);
		for (const name of groupsOf(usage, /--(?<name>[\-a-z]+)/gv, 'name')) {
			expect(Object.keys({...flags, store: ''})).toContain(name);
		}

		for (const typed of examples.flatMap(([line]) => callsIn(line))) {
			expect(await understand(shellWords(typed))).toHaveProperty('command.name', verb);
		}
	});
});

test('the help tells of every verb, and of exit codes', async () => {
	const help = await mainHelp();
	for (const verb of verbs) {
		expect(help).toMatch(new RegExp(String.raw`^ {2}${verb} {2,}\S`, 'mv'));
		expect(readme).toContain(`**\`canhazgpu ${verb}\`**`);
	}

	expect(help).toContain(
		'Exit codes: 0 done, 1 failed, 2 wrong usage, 3 GPUs not available, 4 store unreachable or no pool',
	);
	for (const line of help.split('\n')) {
		expect(line.length).toBeLessThanOrEqual(100);
	}
});
