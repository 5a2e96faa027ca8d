/** Markdown on a terminal and in a man page. */
import {stripVTControlCharacters} from 'node:util';
import {Chalk} from 'chalk';
import fc from 'fast-check';
import {expect, test} from 'vitest';
import {parseMarkdown, targetText} from '../../source/format/markdown/parse.js';
import {manPage} from '../../source/format/markdown/roff.js';
import {markdownText} from '../../source/format/markdown/terminal.js';
import {createPaint} from '../../source/format/text/paint.js';
import {widthOf} from '../../source/format/text/width.js';
import {findTopic, topicNames} from '../../source/help/topics.js';

const plain = createPaint(false, {});
const chalk = new Chalk({level: 1});
const colored = {...plain, bold: chalk.bold, header: chalk.cyan};

const shown = (markdown: string, columns = 40): string =>
	markdownText(markdown, {columns, paint: plain, hasColor: false});

const sample = `# Title of \`it\`

A paragraph that is long enough to be wrapped, with \`code that stays\` and **bold
words**, see [the queue](queue.md#rules).

- first
  goes on
- second
1. one

\`\`\`sh
keep   this    # as it is, however long the line may be for that screen

  and this
\`\`\`

![a picture](picture.svg)

| key | does |
|---|---|
| \`r\` | reserve |
| \`a \\| b\` | either of them, in a cell that has to be wrapped |
`;

test('markdownText wraps text and keeps code blocks unchanged', () => {
	expect(shown(sample)).toBe(`Title of it

A paragraph that is long enough to be
wrapped, with \`code that stays\` and bold
words, see the queue
(\`canhazgpu help queue\`).

- first goes on
- second
1. one

    keep   this    # as it is, however long the line may be for that screen

      and this

  key    does
  r      reserve
  a | b  either of them, in a cell that
         has to be wrapped`);
});

test('markdownText writes each row of a table that is too wide as a list', () => {
	expect(shown('| a | b |\n|---|---|\n| `canhazgpu` | some more words |', 20)).toBe(
		'  canhazgpu\n      some more\n      words',
	);
	// In a table of several columns, each cell except the last is labeled, unless it is empty.
	const table = '| key | default | meaning |\n|---|---|---|\n| `a` | `8h` | how long |\n| `b` | | what it is for |';
	expect(shown(table, 22)).toBe('  a\n      default: `8h`\n      how long\n  b\n      what it is for');
});

test('markdownText with colors shows bold headings and colored code', () => {
	const text = markdownText('# Title\n\nSee `code` and **bold**.', {columns: 80, paint: colored, hasColor: true});
	expect(text).toBe(`${chalk.bold('Title')}\n\nSee ${chalk.cyan('code')} and ${chalk.bold('bold')}.`);
});

test('markdownText wraps lines at the same places with and without colors', () => {
	const text = 'Some words and **some that are bold**, so many that they are wrapped.';
	for (const columns of [20, 33, 80]) {
		expect(stripVTControlCharacters(markdownText(text, {columns, paint: colored, hasColor: true}))).toBe(
			shown(text, columns),
		);
	}
});

test.each([
	['queue.md', 'canhazgpu help queue'],
	['queue.md#order', 'canhazgpu help queue'],
	['https://bun.com', 'https://bun.com'],
	['#here', undefined],
	['../../media/top.svg', undefined],
	['../../readme.md', undefined],
])('targetText returns for a link to %s: %s', (target, words) => {
	expect(targetText(target)).toBe(words);
});

const hostile = fc.array(
	fc.oneof(
		fc.constantFrom(
			'# ',
			'- ',
			'1. ',
			'|',
			'`',
			'```',
			'**',
			'[',
			'](',
			')',
			'\n',
			'\\',
			'![',
			'.SH ',
			"'",
			'\u{1B}[31m',
			'\u{202E}',
		),
		fc.string({unit: 'binary', maxLength: 12}),
	),
	{maxLength: 40},
);

test.each(topicNames)('the help topic %s contains no control or format characters', async (name) => {
	const {default: markdown} = await findTopic(name)!.load();
	expect(shown(markdown, 80)).not.toMatch(/[[\p{Control}\p{Format}]--\n]/v);
});

const prose = fc
	.array(
		fc.oneof(
			fc.string({unit: fc.constantFrom(...'abcdefgh.,'), minLength: 1, maxLength: 10}),
			fc.constantFrom('`a b`', '**so**', '字字', '[x](web.md)'),
		),
		{
			minLength: 1,
		},
	)
	.map((words) => words.join(' '));

test('markdownText keeps every paragraph, item and table within the screen width', () => {
	fc.assert(
		fc.property(prose, fc.integer({min: 30, max: 100}), (words, columns) => {
			const text = `${words}\n\n- ${words}\n\n| a | b |\n|---|---|\n| ${words} | ${words} |\n`;
			const tooWide = shown(text, columns)
				.split('\n')
				.filter((line) => widthOf(line) > columns);
			expect(tooWide).toEqual([]);
		}),
		{numRuns: 300},
	);
});

test('manPage never turns text into a roff request', () => {
	fc.assert(
		fc.property(hostile, (parts) => {
			const page = manPage({name: 'x', section: 7, summary: 'y', version: '1', markdown: parts.join('')});
			const commands = page.split('\n').filter((line) => /^['.]/v.test(line));
			expect(commands.filter((line) => !/^\.(?:TH|nh|nr|SH|SS|PP|IP|TP|RS|RE|EX|EE)\b/v.test(line))).toEqual([]);
		}),
		{numRuns: 300},
	);
});

test('manPage writes a title, a name and the sections of the text', () => {
	const page = manPage({
		name: 'canhazgpu-queue',
		section: 7,
		summary: 'who is next',
		version: '1.2.3',
		markdown:
			'# Left out\n\nText with `--flag`, see [web](web.md).\n\n## Rules\n\n- one\n\n```\n.dot\n```\n\n| a | b | c |\n|---|---|---|\n| `x` | 1 | end |',
	});
	expect(page.split('\n')).toEqual([
		String.raw`.TH CANHAZGPU\-QUEUE 7 "" "canhazgpu 1.2.3" "canhazgpu"`,
		'.nh',
		'.nr HY 0',
		'.SH NAME',
		String.raw`canhazgpu\-queue \- who is next`,
		'.SH DESCRIPTION',
		String.raw`Text with \fB\-\-flag\fR, see web (canhazgpu\-web(7)).`,
		'.SH Rules',
		String.raw`.IP \(bu 2`,
		'one',
		'.PP',
		'.RS 4',
		'.EX',
		String.raw`\&.dot`,
		'.EE',
		'.RE',
		'.TP',
		String.raw`\fBx\fR`,
		'b: 1.',
		'end',
		'',
	]);
});

test('parseMarkdown returns the type of each block', () => {
	expect(parseMarkdown(sample).map(({kind}) => kind)).toEqual([
		'heading',
		'paragraph',
		'item',
		'item',
		'item',
		'code',
		'table',
	]);
});
