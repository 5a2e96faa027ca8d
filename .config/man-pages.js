/*
Makes the man pages in dist/man/: canhazgpu(1) of the help of the verbs, canhazgpu-TOPIC(7) of each help topic.
*/
import {mkdirSync, readFileSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {pathToFileURL} from 'node:url';
import {rolldown} from 'rolldown';

/** A module that the program does not load, bundled by itself. */
async function importAlone(root, file) {
	const bundle = await rolldown({cwd: root, input: file, platform: 'node'});
	const {
		output: [{code}],
	} = await bundle.generate({format: 'esm'});
	await bundle.close();
	return import(`data:text/javascript;base64,${Buffer.from(code).toString('base64')}`);
}

const row = (typed, words) => `| \`${typed.replaceAll('|', '\\|')}\` | ${words.replaceAll('|', '\\|')} |`;

const table = (rows) => ['| | |', '|---|---|', ...rows, ''];

const rowsTable = (rows) => table(rows.map(([typed, words]) => row(typed.trim(), words)));

const verbText = ({name, summary, usage, flags, notes = [], examples}, flagRows) => [
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

/**
@param root - The folder of this repository, with the built program in dist/.
@param outputs - What the bundler tells of the files it wrote.
*/
export async function makeManPages(root, outputs) {
	const importBuilt = async (entry) => {
		const {fileName} = outputs.find(({facadeModuleId}) => facadeModuleId === path.join(root, entry));
		return import(pathToFileURL(path.join(root, 'dist', fileName)).href);
	};

	const [{manPage}, {commandNames, findCommand}, {topics}, {flagRows, globalFlags}] = await Promise.all([
		importAlone(root, 'source/format/markdown/roff.ts'),
		importBuilt('source/command-line/find-command.ts'),
		importBuilt('source/help/topics.ts'),
		importAlone(root, 'source/command-line/flags.ts'),
	]);
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
		...commands.flatMap((command) => verbText(command, flagRows)),
		'## Flags of every verb',
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
