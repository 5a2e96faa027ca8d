/**
Writes the man pages: canhazgpu(1) from the help of the commands, and canhazgpu-TOPIC(7) from each help topic. The build bundles this file with the
source of the program, and runs the result.
*/
import {mkdirSync, readFileSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {commandNames, findCommand} from '../source/command-line/find-command.js';
import {flagRows, globalFlags} from '../source/command-line/flags.js';
import {manPage} from '../source/format/markdown/roff.js';
import {topics} from '../source/help/topics.js';

const row = (typed, words) => `| \`${typed.replaceAll('|', '\\|')}\` | ${words.replaceAll('|', '\\|')} |`;

const table = (rows) => ['| | |', '|---|---|', ...rows, ''];

const rowsTable = (rows) => table(rows.map(([typed, words]) => row(typed.trim(), words)));

const commandText = ({name, summary, usage, flags, notes = [], examples}) => [
	`## canhazgpu ${name}`,
	'',
	`${summary}.`,
	'',
	`\`canhazgpu ${`${name} ${usage}`.trim()}\``,
	'',
	...(Object.keys(flags).length === 0 ? [] : rowsTable(flagRows(flags))),
	notes.join(' '),
	'',
	'Examples:',
	'',
	...rowsTable(examples),
];

/** @param root - The folder of this repository. */
export async function makeManPages(root) {
	const commands = await Promise.all(commandNames.map((name) => findCommand(name)));
	const {version} = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'));
	const directory = path.join(root, 'dist/man');
	mkdirSync(directory, {recursive: true});
	const write = (file, text) => writeFileSync(path.join(directory, file), text);

	const markdown = [
		'## Synopsis',
		'',
		'`canhazgpu VERB [flags]`, or `chg` for short',
		'',
		...commands.flatMap((command) => commandText(command)),
		'## Flags of every command',
		'',
		...rowsTable(flagRows(globalFlags)),
		'## Exit status',
		'',
		'0 done, 1 failed, 2 wrong usage, 3 GPUs not available, 4 store unreachable or no pool; of `run`: that of the command, and 124 when its time was over.',
		'',
		'## See also',
		'',
		...Object.entries(topics).map(([name, {summary}]) => `- [${name}](${name}.md): ${summary}`),
	].join('\n');
	const summary = 'share the GPUs of one machine without stepping on each other';
	write('canhazgpu.1', manPage({name: 'canhazgpu', section: 1, summary, version, markdown}));
	write('chg.1', '.so man1/canhazgpu.1\n');
	for (const [name, topic] of Object.entries(topics)) {
		const text = readFileSync(path.join(root, `source/help/${name}.md`), 'utf8');
		write(
			`canhazgpu-${name}.7`,
			manPage({name: `canhazgpu-${name}`, section: 7, summary: topic.summary, version, markdown: text}),
		);
	}
}
