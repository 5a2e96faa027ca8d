import fc from 'fast-check';
import {expect, test} from 'vitest';
import {grown, rowText, shrunk, totalWidth, type Column} from '../../../source/format/text/columns.js';
import {widthOf} from '../../../source/format/text/width.js';

const names = ['a', 'b', 'c', 'd', 'e'] as const;

type Name = (typeof names)[number];

const anyColumns = fc
	.array(fc.record({width: fc.integer({min: 1, max: 20}), align: fc.constantFrom('start', 'end')}), {
		minLength: 1,
		maxLength: names.length,
	})
	.map((columns) => columns.map((column, index): Column<Name> => ({...column, name: names[index]!})));

const anyRoom = fc.record({width: fc.integer({min: 0, max: 150}), gap: fc.integer({min: 0, max: 3})});

const anySacrifices = fc.array(
	fc.tuple(fc.constantFrom(...names), fc.integer({min: 0, max: 12}), fc.constantFrom(undefined, 'at once' as const)),
	{maxLength: 12},
);

const anyRounds = fc.array(
	fc.array(fc.tuple(fc.constantFrom(...names), fc.integer({min: 0, max: 40}))).map((most) => Object.fromEntries(most)),
	{maxLength: 4},
);

test('shrunk narrows columns only as far as necessary, in the given order', () => {
	fc.assert(
		fc.property(anyColumns, anyRoom, anySacrifices, (columns, room, sacrifices) => {
			const fitting = shrunk(columns, room, sacrifices);
			// The columns are reduced no further than necessary.
			for (let count = 0; count <= sacrifices.length; count++) {
				const partly = shrunk(columns, room, sacrifices.slice(0, count));
				if (totalWidth(partly, room.gap) <= room.width) {
					expect(fitting).toEqual(partly);
					break;
				}
			}

			const isNamed = new Map(sacrifices.map(([name, least]) => [name, least]));
			for (const column of columns) {
				const kept = fitting.find(({name}) => name === column.name);
				const leasts = sacrifices.filter(([name]) => name === column.name).map(([, least]) => least);
				if (kept === undefined) {
					expect(leasts).toContain(0);
				} else {
					expect(kept.width).toBeLessThanOrEqual(column.width);
					expect(kept.width).toBeGreaterThanOrEqual(Math.min(column.width, ...leasts));
					expect(isNamed.has(column.name) ? kept.align : kept).toEqual(
						isNamed.has(column.name) ? column.align : column,
					);
				}
			}
		}),
	);
});

test('grown widens columns to the given width and gives the remainder to the chosen column', () => {
	fc.assert(
		fc.property(anyColumns, anyRoom, anyRounds, fc.boolean(), (columns, room, rounds, hasLast) => {
			const last = hasLast ? columns[0]!.name : undefined;
			const wider = grown(columns, room, rounds, last);
			const before = totalWidth(columns, room.gap);
			const after = totalWidth(wider, room.gap);
			expect(after).toBeLessThanOrEqual(Math.max(before, room.width));
			expect(after === Math.max(before, room.width) || last === undefined).toBe(true);
			for (const [index, {name, width}] of wider.entries()) {
				const own = columns[index]!.width;
				expect(width).toBeGreaterThanOrEqual(own);
				if (name !== last) {
					expect(width).toBeLessThanOrEqual(Math.max(own, ...rounds.map((most) => most[name] ?? 0)));
				}
			}

			const cells = {a: 'long enough to be cut', b: '', c: '漢字', d: '7', e: '-'};
			expect(widthOf(rowText(wider, cells, room))).toBe(after);
		}),
	);
});
