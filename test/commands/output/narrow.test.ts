/** Tables on a terminal that is narrower than the table. */
import {expect, onTestFinished, test} from 'vitest';
import {createEmbeddedBox, starter, starterText} from '../../_helpers/program/cli.js';
import {openTerminal} from '../../_helpers/machine/terminal.js';
import {firstCase, slowTest} from '../../_helpers/slow.js';

test('status fits the width of a narrow terminal, and prints every column in a pipe', async () => {
	const box = await createEmbeddedBox(2);
	onTestFinished(box.remove);
	await box.run(['reserve', '--user', 'team', '--note', 'a note that is longer than the terminal has room for']);
	const terminal = openTerminal(starter, [...starterText, 'status'], {
		cwd: box.home,
		columns: 70,
		environment: box.environment,
	});
	onTestFinished(async () => terminal.close());
	expect(await terminal.exit).toMatchObject({exitCode: 0});
	const [header, rule, first, second, remark] = terminal.screen();
	expect(header).toMatch(/^ GPU │ STATUS +│ USER +│ DETAILS/v);
	expect(rule).toMatch(/^[─┼]+$/v);
	expect(first).toMatch(/^ 0 +│ ● IN_USE +│ \w+/v);
	expect(second).toMatch(/^ 1 +│ ● AVAILABLE +│ - +│ never used/v);
	expect(remark).toMatch(/^SIMULATED/v);
	const {stdout} = await box.run('status');
	expect(stdout).toContain('│ a note that is longer than the terminal has room for\n');
});

test.each(firstCase(['status', 'status --summary', 'queue', 'report']))(
	'%s in a pipe fits the width in COLUMNS and ignores an invalid COLUMNS',
	async (command) => {
		const box = await createEmbeddedBox(2);
		onTestFinished(box.remove);
		await box.run(['reserve', '--note', 'a note that is longer than sixty columns have room for, in any case']);
		await box.run('reserve -g 2 --wait 1s');
		const widest = async (columns: string): Promise<number> => {
			const {stdout, exitCode} = await box.run(command, {COLUMNS: columns});
			expect(exitCode).toBe(0);
			// Only the lines of a table count, because `report` ends with a sentence.
			return Math.max(...stdout.split('\n').map((line) => (/[│┼]/v.test(line) ? line.length : 0)));
		};

		const whole = await widest('wide');
		// A duration may have one digit more than in the first run.
		expect(Math.abs((await widest('0')) - whole)).toBeLessThan(3);
		expect(await widest('60')).toBeLessThanOrEqual(Math.min(60, whole + 2));
		expect(command === 'status' ? whole : 61).toBeGreaterThan(60);
	},
);

slowTest.each(['status', 'help slurm', 'run --help'])(
	'%s on a terminal uses the width in COLUMNS, or the terminal width if COLUMNS is invalid',
	async (words) => {
		const box = await createEmbeddedBox(2);
		onTestFinished(box.remove);
		await box.run(['reserve', '--note', 'a note that is longer than sixty columns have room for, in any case']);
		const widest = async (stated: string): Promise<number> => {
			const terminal = openTerminal(starter, [...starterText, ...words.split(' ')], {
				cwd: box.home,
				columns: 90,
				rows: 200,
				environment: {...box.environment, COLUMNS: stated},
			});
			onTestFinished(async () => terminal.close());
			expect(await terminal.exit).toMatchObject({exitCode: 0});
			// Code in a topic is never wrapped.
			return Math.max(...terminal.screen().map((line) => (line.startsWith(' '.repeat(4)) ? 0 : line.length)));
		};

		expect(await widest('60')).toBeLessThanOrEqual(60);
		expect(await widest('none')).toBeGreaterThan(60);
		expect(await widest('0')).toBeGreaterThan(60);
	},
);
