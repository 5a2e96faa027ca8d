import {Chalk} from 'chalk';
import fc from 'fast-check';
import {expect, test} from 'vitest';
import {widthOf} from '../../../source/format/text/width.js';
import {Meter} from '../../../source/tui/widgets/meter.js';
import {drawn, painted} from '../_drawn.js';

test.each([
	[0, '──────────'],
	[0.009, '──────────'],
	[0.01, '╸─────────'],
	[0.5, '━━━━━─────'],
	[0.55, '━━━━━╸────'],
	[0.99, '━━━━━━━━━╸'],
	[1, '━━━━━━━━━━'],
	[-1, '──────────'],
	[1.2, '━━━━━━━━━━'],
])('Meter draws %d as %s', (share, bar) => {
	expect(drawn(<Meter of="load" share={share} width={10} />)).toBe(bar);
});

test.each([
	[0, '[........]'],
	[0.01, '[#.......]'],
	[0.5, '[####....]'],
	[0.99, '[#######.]'],
	[1, '[########]'],
])('Meter in ASCII mode draws %d as %s', (share, bar) => {
	expect(drawn(<Meter of="memory" share={share} width={10} />, {isAscii: true})).toBe(bar);
});

test('Meter is always as wide as requested, and only a value of 1 or more fills it', () => {
	fc.assert(
		fc.property(
			fc.double({min: -1, max: 2, noNaN: true}),
			fc.integer({min: 4, max: 60}),
			fc.boolean(),
			(share, width, isAscii) => {
				const bar = drawn(<Meter of="load" share={share} width={width} />, {isAscii});
				expect(widthOf(bar)).toBe(width);
				expect(!/[.─╸]/v.test(bar)).toBe(share >= 1);
				expect(/[#━╸]/v.test(bar)).toBe(share >= 0.01);
			},
		),
		{numRuns: 10},
	);
});

test.each([
	['load', 0.3, 'green'],
	['load', 0.7, 'yellow'],
	['load', 0.9, 'red'],
	['memory', 0.9, 'blueBright'],
] as const)('Meter draws a %s of %d in %s', (of, share, color) => {
	const bar = painted(<Meter of={of} share={share} width={10} />, 'dark');
	const filled = '━'.repeat(share * 10);
	const rest = '─'.repeat(10 - filled.length);
	const chalk = new Chalk({level: 1});
	expect(bar).toBe(chalk[color](filled + chalk.dim(rest)));
});
