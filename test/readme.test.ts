/** Checks that commands in the readme, the help topics and the help are valid. */
import {existsSync, readdirSync, readFileSync} from 'node:fs';
import {describe, expect, test} from 'vitest';
import {commandNames, findCommand} from '../source/command-line/find-command.js';
import {globalFlags} from '../source/command-line/flags.js';
import {mainHelp} from '../source/command-line/help.js';
import {settingPaths} from '../source/config/schema.js';
import {schemas} from '../source/help/schema/index.js';
import {topicNames, topics} from '../source/help/topics.js';
import {understand} from '../source/main.js';
import {shellWords} from '../source/format/text/shell.js';

const root = new URL('../', import.meta.url);
const fileText = (file: string): string => readFileSync(new URL(file, root), 'utf8');

const topicFile = (name: string): string => `source/help/${name}.md`;

/** All user documentation, by path. */
const documents: Readonly<Record<string, string>> = Object.fromEntries(
	['readme.md', '.github/contributing.md', '.github/security.md', ...topicNames.map((name) => topicFile(name))].map(
		(file) => [file, fileText(file)],
	),
);

const call = /(?<![^\s'\(;])(?:canhazgpu|chg) (?<words>(?:"[^"]*"|[^"\u{26}'\)>\|])+)/gv;
const block = /```sh\n(?<code>.*?)```/gsv;
const inlineCode = /`(?<code>[^`]+)`/gv;

const groupsOf = (text: string, pattern: RegExp, name: string): readonly string[] =>
	text
		.matchAll(pattern)
		.map((match) => match.groups![name]!.trim())
		.toArray();

/** Returns the canhazgpu calls in shell lines, without redirections and pipes. */
const callsIn = (code: string): readonly string[] =>
	code.split('\n').flatMap((line) => groupsOf(line.replace(/#.*/v, ''), call, 'words'));

/** Words that stand for a name in usage lines. */
const placeholders = /\b(?:VERB|COMMAND|TOPIC|WORD)\b/v;

function callsOf(text: string): readonly string[] {
	const blocks = groupsOf(text, block, 'code');
	const inline = groupsOf(text.replaceAll(/```.*?```/gsv, ''), inlineCode, 'code')
		.map((code) => code.replaceAll('\n', ' '))
		.filter((code) => !placeholders.test(code));
	return [...blocks, ...inline].flatMap((code) => callsIn(code)).filter((typed) => !typed.startsWith('-queue'));
}

/** Examples of wrong commands. */
const meantToFail = new Set(['squeue']);

const calls = Object.entries(documents).flatMap(([file, text]) =>
	callsOf(text)
		.filter((typed) => !meantToFail.has(typed))
		.map((typed) => [file, typed] as const),
);

test('the readme and the help topics contain more than 80 example commands', () => {
	const typed = calls.map(([, words]) => words);
	expect(calls.length).toBeGreaterThan(80);
	expect(calls.filter(([file]) => file === 'readme.md').length).toBeGreaterThan(8);
	expect(typed).toContain('admin --drain 3 --reason "fan is dead"');
	expect(typed).toContain('reserve --gpus 2 --while-pid $$ --short');
});

test.each([...new Map(calls.map(([file, typed]) => [typed, file]))])(
	'the documented "canhazgpu %s" is valid (%s)',
	async (typed) => {
		expect(await understand(shellWords(typed))).toBeTruthy();
	},
);

/** Flags of jobs: one names the model, and the others contain secrets. */
const foreignFlags = new Set(['model', 'hf-token', 'api-key']);

test('every flag in the readme and the help topics exists', async () => {
	const commands = await Promise.all(commandNames.map(async (command) => findCommand(command)));
	const flags = new Set([...Object.keys(globalFlags), ...commands.flatMap((command) => Object.keys(command.flags))]);
	for (const [file, text] of Object.entries(documents)) {
		const named = groupsOf(text.replaceAll(/```.*?```/gsv, ''), /`--(?<name>[a-z][\-a-z]*)/gv, 'name');
		const unknown = named.filter((name) => !flags.has(name) && !foreignFlags.has(name));
		expect([file, unknown]).toEqual([file, []]);
	}
});

test('the configuration topic documents exactly the existing settings', () => {
	const rows = groupsOf(
		documents[topicFile('configuration')]!,
		/^\| `(?<setting>[_a-z]+(?:\.[\-_a-z]+)?)` \|/gmv,
		'setting',
	);
	expect(rows.toSorted()).toEqual(settingPaths.toSorted());
});

test('the topic on JSON lists exactly the existing schemas', () => {
	const listed = groupsOf(documents[topicFile('json')]!, /^\| `(?<name>[\-a-z]+)` \|/gmv, 'name');
	expect(listed.toSorted()).toEqual(Object.keys(schemas).toSorted());
});

/** Metric names without the prefix `canhazgpu_`. */
const definedMetrics: readonly string[] = [
	/\b(?:gauge|reading|shareGauge|secondsOf)\(\s*'(?<name>\w+)'/gv,
	/\[\s*'\w+',\s*'(?<name>\w+_total)'/gv,
	/name: 'canhazgpu_(?<name>\w+)'/gv,
].flatMap((pattern) => groupsOf(fileText('source/web/api/metrics.ts'), pattern, 'name'));

test('the metrics topic documents exactly the existing metrics', () => {
	const documented = groupsOf(documents[topicFile('metrics')]!, /^\| `canhazgpu_(?<name>\w+)` \|/gmv, 'name');
	expect(definedMetrics.length).toBeGreaterThan(15);
	expect(documented.toSorted()).toEqual(definedMetrics.toSorted());
});

test.each(['media/grafana-dashboard.json', 'media/prometheus-alerts.yml'])('%s uses only existing metrics', (file) => {
	const asked = groupsOf(fileText(file), /\bcanhazgpu_(?<name>\w+)/gv, 'name').map((name) =>
		name.replace(/_bucket$/v, ''),
	);
	expect(new Set(asked).size).toBeGreaterThan(7);
	expect(asked.filter((name) => !definedMetrics.includes(name))).toEqual([]);
});

test('the metrics topic contains the alert rules of media/prometheus-alerts.yml', () => {
	const [, rules] = fileText('media/prometheus-alerts.yml').split(/(?<=^#.*\n)/v, 2);
	expect(documents[topicFile('metrics')]).toContain(`\`\`\`yaml\n${rules}\`\`\`\n`);
});

test('every help topic has a file with a heading, and every file in source/help is a topic', () => {
	const files = readdirSync(new URL('source/help/', root)).filter((file) => file.endsWith('.md'));
	expect(files.toSorted()).toEqual(topicNames.map((name) => `${name}.md`).toSorted());
	for (const name of topicNames) {
		expect(documents[topicFile(name)]).toMatch(/^# \S/v);
		expect(documents['readme.md']).toContain(`](${topicFile(name)})`);
		expect(topics[name]!.summary).toMatch(/^[A-Z]/v);
	}
});

/** Returns the anchors that GitHub makes of the headings. */
const anchorsOf = (text: string): readonly string[] =>
	groupsOf(text, /^#+ (?<title>.*)$/gmv, 'title').map((title) =>
		title
			.toLowerCase()
			.replaceAll(/[^\w \-]/gv, '')
			.replaceAll(' ', '-'),
	);

test.each(Object.keys(documents))('every link of %s has a target', (file) => {
	const own = groupsOf(documents[file]!, /\]\((?<target>[^\)]+)\)/gv, 'target').filter(
		(target) => !/^https?:/v.test(target),
	);
	for (const target of own) {
		const [path, anchor] = target.split('#', 2) as [string, string?];
		const linked = path === '' ? new URL(file, root) : new URL(path, new URL(file, root));
		expect([target, existsSync(linked)]).toEqual([target, true]);
		expect(anchor === undefined ? [anchor] : anchorsOf(readFileSync(linked, 'utf8'))).toContain(anchor);
	}
});

test.each(Object.keys(documents))('every source path in %s exists', (file) => {
	const text = documents[file]!.replaceAll(/```.*?```/gsv, '');
	const paths = groupsOf(text, /`(?<path>(?:source|test|media|\.github|\.config|\.ci)\/[\w\-.\/]*)`/gv, 'path');
	// NAME is a placeholder.
	for (const path of paths.filter((each) => !/\bNAME\b/v.test(each))) {
		expect([path, existsSync(new URL(path, root))]).toEqual([path, true]);
	}
});

describe.each(commandNames)('the help of the command %s', (command) => {
	test('names only existing flags and contains only valid examples', async () => {
		const {usage, flags, examples} = await findCommand(command);
		for (const name of groupsOf(usage, /--(?<name>[\-a-z]+)/gv, 'name')) {
			expect(Object.keys({...flags, store: ''})).toContain(name);
		}

		for (const typed of examples.flatMap(([line]) => callsIn(line))) {
			expect(await understand(shellWords(typed))).toHaveProperty('command.name', command);
		}
	});
});

test('the help lists every command, every topic and the exit codes', async () => {
	const help = await mainHelp(100);
	for (const command of commandNames) {
		expect(help).toMatch(new RegExp(String.raw`^ {2}${command} {2,}\S`, 'mv'));
		expect(documents[topicFile('commands')]).toContain(`**\`canhazgpu ${command}\`**`);
	}

	for (const name of topicNames) {
		expect(help).toMatch(new RegExp(String.raw`^ {2}${name} {2,}\S`, 'mv'));
	}

	const codes = 'Exit codes: 0 done, 1 failed, 2 wrong usage, 3 GPUs not available, 4 store unreachable or no pool';
	expect(help).toContain(codes);
	expect(documents[topicFile('commands')]).toContain(codes);
	for (const line of help.split('\n')) {
		expect(line.length).toBeLessThanOrEqual(100);
	}
});
