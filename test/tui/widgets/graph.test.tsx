import {expect, test} from 'vitest';
import {Curve, Graph} from '../../../source/tui/widgets/graph.js';
import {Label} from '../../../source/tui/widgets/label.js';
import {drawn, lines} from '../_drawn.js';

const ramp = (count: number): readonly number[] => Array.from({length: count}, (_, index) => index / (count - 1));

test('Graph draws its scale on the left, its times below, and two values in each braille character', () => {
	const graph = <Graph of="load" values={ramp(20)} rows={3} top="util 100%" bottom="0%" from="-5m" />;
	expect(drawn(graph)).toBe(
		lines(' util 100%│       ⣀⣴⣾', '          │    ⣠⣴⣿⣿⣿⣿', '        0%│⣀⣠⣶⣿⣿⣿⣿⣿⣿⣿', '           -5m    now'),
	);
});

test('Graph with blocks draws one value in each character', () => {
	const graph = <Graph of="load" values={ramp(9)} rows={2} top="100%" bottom="0%" from="-5m" />;
	expect(drawn(graph, {graphs: 'blocks'})).toBe(
		lines('      100%│     ▂▄▆█', '        0%│▁▂▄▆█████', '           -5m   now'),
	);
});

test('Graph in ASCII mode draws only ASCII characters', () => {
	const graph = <Graph of="load" values={ramp(9)} rows={2} top="100%" bottom="0%" from="-5m" />;
	expect(drawn(graph, {isAscii: true})).toBe(
		lines('      100%|     __##', '        0%|.__######', '           -5m   now'),
	);
});

test('Graph with one row omits the lower end of the scale', () => {
	const graph = <Graph of="load" values={ramp(16)} rows={1} top="high" bottom="low" from="-5m" />;
	expect(drawn(graph)).toBe(lines('      high│⣀⣀⣀⣤⣤⣶⣶⣿', '           -5m  now'));
});

test('Graph draws an extra line between the curve and the times', () => {
	const graph = (
		<Graph of="memory" values={ramp(12)} rows={1} top="100%" bottom="0%" from="09:00" under={<Label>alice</Label>} />
	);
	expect(drawn(graph, {graphs: 'blocks'})).toBe(
		lines('      100%│▁▁▁▂▃▄▄▅▆▇▇█', '           alice', '           09:00    now'),
	);
});

test('Graph centers clock times below their columns, and leaves out those that would touch the labels at the ends', () => {
	const times = [3, 12, 21, 27].map((column) => ({column, text: `0${column % 10}:00`}));
	const graph = <Graph of="load" values={ramp(60)} rows={1} top="100%" bottom="0%" from="-24h" times={times} />;
	expect(drawn(graph).split('\n').at(-1)).toBe(`${' '.repeat(11)}-24h      02:00    01:00   now`);
	const narrow = (
		<Graph of="load" values={ramp(40)} rows={1} top="" bottom="" from="-24h" times={[]} fromTime="14:32" />
	);
	expect(drawn(narrow).split('\n').at(-1)).toBe(`${' '.repeat(11)}-24h, 14:32      now`);
});

test('Curve draws a gap for an unknown value, and a mark for zero', () => {
	const values = [1, 0, undefined, 1];
	expect(drawn(<Curve of="load" values={values} rows={2} />, {graphs: 'blocks'})).toBe(lines('█  █', '█▁ █'));
	expect(drawn(<Curve of="load" values={[0, 0, undefined, undefined, 1, 1]} rows={1} />)).toBe('⣀ ⣿');
});
