/** Tables on a terminal that is narrower than they are. */
import {expect, onTestFinished, test} from 'vitest';
import {createEmbeddedBox, starter, starterWords} from '../../_helpers/program/cli.js';
import {openTerminal} from '../../_helpers/machine/terminal.js';

test('status breaks no line where the terminal is narrow, and leaves out nothing in a pipe', async () => {
	const box = await createEmbeddedBox(2);
	onTestFinished(box.remove);
	await box.run(['reserve', '--user', 'team', '--note', 'a note that is longer than the terminal has room for']);
	const terminal = openTerminal(starter, [...starterWords, 'status'], {
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
	const {stdout} = await box.run('status', {COLUMNS: '40'});
	expect(stdout).toContain('│ a note that is longer than the terminal has room for\n');
});
