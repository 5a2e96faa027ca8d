import {expect, test} from 'vitest';
import {Memory, Nothing, Temperature, Utilization} from '../../../../source/tui/panels/shared/readings.js';
import {Label} from '../../../../source/tui/widgets/label.js';
import {drawn, painted} from '../../_drawn.js';

test.each([
	[undefined, 4, 'N/A'],
	[0, 4, '0%'],
	[83.6, 4, '84%'],
	[100, 12, '100%'],
	[undefined, 20, 'N/A'],
	[0, 20, '───────────────   0%'],
	[50, 20, '━━━━━━━╸───────  50%'],
	[100, 20, '━━━━━━━━━━━━━━━ 100%'],
])('Utilization of %s percent in %i columns is "%s"', (percent, width, expected) => {
	expect(drawn(<Utilization percent={percent} width={width} />)).toBe(expected);
});

test.each([
	['unknown memory', undefined, 81_920, 20, 'N/A'],
	['memory of an unknown total', 2048, undefined, 20, '2.0G'],
	['memory of a total of 0', 2048, 0, 20, '2.0G'],
	['memory in a narrow column', 40_960, 81_920, 8, '40/80G'],
	['memory in a wide column', 40_960, 81_920, 20, '━━━━━━━╸───────  40G'],
	['no memory in a wide column', 0, 81_920, 20, '───────────────   0G'],
])('Memory shows %s', (_, usedMiB, totalMiB, width, expected) => {
	expect(drawn(<Memory usedMiB={usedMiB} totalMiB={totalMiB} width={width} />)).toBe(expected);
});

test('Utilization and Memory draw bars of ASCII characters', () => {
	expect(drawn(<Utilization percent={50} width={15} />, {isAscii: true})).toBe('[####....]  50%');
	expect(drawn(<Memory usedMiB={0} totalMiB={81_920} width={15} />, {isAscii: true})).toBe('[........]   0G');
});

test.each([
	[undefined, '-', 'dim'],
	[0, '0C ', 'plain'],
	[79.4, '79C ', 'plain'],
	[80, '80C!', 'warning'],
] as const)('Temperature of %s °C is "%s" in the tone "%s"', (celsius, text, tone) => {
	const temperature = <Temperature celsius={celsius} />;
	expect(drawn(temperature)).toBe(text.trimEnd());
	expect(painted(temperature, 'dark')).toBe(painted(<Label tone={tone}>{text}</Label>, 'dark'));
});

test('Nothing is a faint dash', () => {
	expect(drawn(<Nothing />)).toBe('-');
	expect(painted(<Nothing />, 'dark')).toBe(painted(<Label tone="dim">-</Label>, 'dark'));
});
