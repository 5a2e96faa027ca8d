/** `canhazgpu help TOPIC`, and the man pages that the build creates from the topics. */
import {execFileSync} from 'node:child_process';
import {existsSync, readdirSync, readFileSync} from 'node:fs';
import {afterAll, beforeAll, describe, expect, test, vi} from 'vitest';
import packageJson from '../package.json' with {type: 'json'};
import {topicNames, topics} from '../source/help/topics.js';
import {commandNames, findCommand} from '../source/command-line/find-command.js';
import {completeWords} from '../source/command-line/completion/words.js';
import {globalFlags} from '../source/command-line/flags.js';
import {understand} from '../source/main.js';
import {createBox, starter, starterText, type Box} from './_helpers/program/cli.js';
import {openTerminal} from './_helpers/machine/terminal.js';

let box: Box;

beforeAll(() => {
	box = createBox();
});

afterAll(() => {
	box.remove();
});

async function helpText(...words: readonly string[]): Promise<string> {
	const understood = await understand(['help', ...words]);
	return 'text' in understood ? understood.text : '';
}

test.each(topicNames)('help %s shows the topic in lines of at most 80 columns', async (name) => {
	const text = await helpText(name);
	const title = /^# (?<title>.*)$/mv.exec(readFileSync(new URL(`../source/help/${name}.md`, import.meta.url), 'utf8'))!;
	expect(text.split('\n')).toContain(title.groups!['title']!.trim());
	expect(text).not.toMatch(/\*\*|^#{1,6} [A-Z]|\]\(/mv);
	// Code keeps its lines, and everything else is wrapped.
	const tooWide = text.split('\n').filter((line) => line.length > 80 && !/^ {4}/v.test(line));
	const isTopicAlone = !commandNames.includes(name);
	expect(isTopicAlone ? tooWide : []).toEqual([]);
});

test('help queue shows the command and then the topic of the same name', async () => {
	const text = await helpText('queue');
	expect(text).toMatch(/^Show who is waiting for GPUs, or leave the queue\.\n\nUsage: canhazgpu queue /v);
	expect(text).toContain('\n\nWho gets which GPU\n\n');
	expect(await understand(['queue', '--help'])).toEqual({text: text.slice(0, text.indexOf('\n\nWho gets which GPU'))});
});

test('help verbs shows the topic "commands", which was formerly called "verbs"', async () => {
	expect(await helpText('verbs')).toBe(await helpText('commands'));
});

test('help COMMAND prints the same as COMMAND --help', async () => {
	expect(await understand(['help', 'reserve'])).toEqual(await understand(['reserve', '--help']));
	expect(await understand(['help'])).toEqual(await understand(['--help']));
});

test.each(['', ...commandNames].flatMap((command) => [80, 60].map((columns) => [command, columns] as const)))(
	'`canhazgpu help %s` fits %d columns and cuts off no summary',
	async (command, columns) => {
		vi.stubEnv('COLUMNS', String(columns));
		const text = await helpText(...(command === '' ? [] : [command]));
		vi.unstubAllEnvs();
		const own = topicNames.includes(command) ? text.slice(0, text.indexOf('\n\n', text.indexOf('Examples:'))) : text;
		expect(own.split('\n').filter((line) => line.length > columns)).toEqual([]);
		const words = own.replaceAll(/\s+/gv, ' ');
		for (const {summary} of command === ''
			? Object.values(topics)
			: Object.values((await findCommand(command)).flags)) {
			expect(words).toContain(` ${summary} `);
		}
	},
);

test.each([
	['monitr', 'Unknown command or help topic "monitr"', 'Did you mean: canhazgpu help monitor'],
	['config', 'Unknown command or help topic "config"', 'Did you mean: canhazgpu help configuration'],
	['Prometheus', 'Unknown command or help topic "Prometheus"', 'Did you mean: canhazgpu help metrics'],
	['Setup', 'Unknown command or help topic "Setup"', 'Did you mean: canhazgpu help setup'],
	['RUN', 'Unknown command "RUN"', 'Did you mean: canhazgpu run'],
	['xyzzy', 'Unknown command or help topic "xyzzy"', 'See all of them: canhazgpu help'],
	['__proto__', 'Unknown command or help topic "__proto__"', 'See all of them: canhazgpu help'],
	['squeue', 'Unknown command "squeue"', 'Did you mean: canhazgpu queue'],
	['reserv', 'Unknown command "reserv"', 'Did you mean: canhazgpu reserve'],
])('help %s is refused with a suggestion', async (word, message, hint) => {
	await expect(helpText(word)).rejects.toMatchObject({exitCode: 2, message, hint});
});

test.each([
	[['help', '--nope'], 'help has no flag --nope'],
	[['help', 'status', '--jsn'], 'help has no flag --jsn'],
	[['help', '--json'], 'help has no flag --json'],
	[['help', 'status', 'foo'], 'help does not take the argument "foo"'],
	[['help', 'json', 'status', 'foo'], 'help does not take the argument "foo"'],
	[['help', '--config'], '--config needs a value'],
	[['help', '--', 'status'], 'help does not run a command, so it cannot be followed by --'],
])('%j is a usage error: %s', async (words, message) => {
	await expect(understand(words)).rejects.toMatchObject({exitCode: 2, message});
});

test('help accepts the global flags', async () => {
	const ofStatus = await understand(['help', 'status']);
	expect(await understand(['--config', '/dev/null', 'help', 'status', '--no-color'])).toEqual(ofStatus);
	expect(await understand(['help', '--store', 'redis', 'status', '-h'])).toEqual(ofStatus);
	expect(await understand(['help', '--version'])).toEqual({text: packageJson.version});
	expect(await understand(['help', 'help'])).toEqual(await understand(['help']));
});

test.each([
	['mo', ['monitor']],
	['q', ['queue']],
	['', [...commandNames, ...topicNames.filter((name) => !commandNames.includes(name))]],
])('completion after `help %s` offers each command and topic once', async (word, offered) => {
	const options = {
		commands: commandNames,
		find: findCommand,
		globals: globalFlags,
		isDescribed: true,
		know: async () => [],
	};
	const completed = await completeWords(['help'], word, options);
	expect(completed.kind === 'words' && completed.candidates.map((candidate) => candidate.word)).toEqual(offered);
	expect(completed.kind === 'words' && completed.candidates.filter(({about}) => about === undefined)).toEqual([]);
});

test('help slurm works without a pool or a network and prints plain text on stdout', async () => {
	const ran = await box.run('help slurm', {CANHAZGPU_REDIS_PORT: '1', COLUMNS: '60'});
	expect({...ran, stdout: ran.stdout.length > 1000}).toEqual({exitCode: 0, stderr: '', stdout: true});
	expect(ran.stdout).toMatch(/^Slurm\n\n/v);
	for (const line of ran.stdout.split('\n')) {
		expect(line).toMatch(/^.{0,60}$/v);
	}

	expect(await box.run('help slrm')).toEqual({
		exitCode: 2,
		stdout: '',
		stderr: 'Error: Unknown command or help topic "slrm"\nDid you mean: canhazgpu help slurm\n',
	});
});

test('FORCE_COLOR colors a help topic in a pipe', async () => {
	const {stdout} = await box.run('help slurm', {FORCE_COLOR: '1'});
	expect(stdout.split('\n', 1)[0]).toBe('\u{1B}[1mSlurm\u{1B}[22m');
});

describe('on a terminal', () => {
	/** Returns the raw output of help. `env` applies the settings, because openTerminal sets TERM itself. */
	const raw = async (words: readonly string[], ...settings: readonly string[]): Promise<string> =>
		rawOf(['help', ...words], settings);

	const rawOf = async (words: readonly string[], settings: readonly string[] = []): Promise<string> => {
		const terminal = openTerminal('/usr/bin/env', [...settings, starter, ...starterText, ...words], {
			cwd: box.home,
			columns: 70,
			rows: 200,
			environment: box.environment,
		});
		try {
			expect(await terminal.exit).toMatchObject({exitCode: 0});
			return terminal.rawSince(0);
		} finally {
			await terminal.close();
		}
	};

	test('a help topic has bold headings and colored commands', async () => {
		const text = await raw(['go']);
		expect(text).toContain('\u{1B}[1mWhat is different\u{1B}[22m');
		expect(text).toContain('\u{1B}[36mcanhazgpu events\u{1B}[39m');
	});

	test.each(['run', 'reserve'])('%s --help fits the width of the terminal', async (command) => {
		const lines = (await rawOf([command, '--help'])).split(/\r?\n/v);
		expect(lines.filter((line) => line.length > 70)).toEqual([]);
		expect(lines).toContain('Examples:');
	});

	test.each([
		['NO_COLOR', ['go'], 'NO_COLOR=1'],
		['--no-color', ['go', '--no-color'], 'NO_SUCH=1'],
		['a terminal without colors', ['go'], 'TERM=dumb'],
	])('%s turns the colors of a help topic off', async (_, words, environment) => {
		const text = await raw(words, environment);
		expect(text).toContain('What is different');
		expect(text).not.toContain('\u{1B}[');
	});
});

describe('man pages', () => {
	const directory = new URL('../dist/man/', import.meta.url);
	const pages = ['canhazgpu.1', 'chg.1', ...topicNames.map((name) => `canhazgpu-${name}.7`)];

	test('exist for the program and each topic, and are listed in package.json', () => {
		expect(readdirSync(directory).toSorted()).toEqual(pages.toSorted());
		expect(packageJson.man).toEqual(pages.map((page) => `./dist/man/${page}`));
	});

	test('describe every command and list every topic', () => {
		const text = readFileSync(new URL('canhazgpu.1', directory), 'utf8');
		for (const command of commandNames) {
			expect(text).toContain(`.SH canhazgpu ${command}\n`);
		}

		for (const name of topicNames) {
			expect(text).toContain(String.raw`canhazgpu\-${name}(7)`);
		}

		expect(text).toContain(String.raw`\-\-isolate[=HOW]`);
	});

	test.skipIf(!existsSync('/usr/bin/groff'))('are formatted by groff without warnings', () => {
		for (const page of pages.filter((name) => name !== 'chg.1')) {
			const formatted = execFileSync('/usr/bin/groff', ['-man', '-ww', '-Kutf8', '-Tutf8', page], {
				cwd: directory,
				encoding: 'utf8',
				stdio: ['ignore', 'pipe', 'pipe'],
			});
			expect(formatted).toContain('canhazgpu');
			// Typed words such as variable names are not hyphenated.
			expect(formatted).not.toMatch(/\p{Letter}\u{2010}\n/v);
		}
	});
});
