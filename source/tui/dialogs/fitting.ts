/** Dialogs on screens that have not enough rows for all of their lines: what matters least gives way first. */
import type {Line} from '../widgets/styled-text.js';

/** Some lines of a dialog, one part after another. */
export type Part = {
	/** How many lines it has where there is room. */
	readonly most: number;
	/** How many it keeps at the least. */
	readonly least: number;
	/** The part in so many lines or fewer, `most` at the most; where something is left out, a mark says so. */
	readonly lines: (most: number) => readonly Line[];
};

/** Of lines that are there or not, without a mark. */
export const optional = (lines: readonly Line[]): Part => ({
	most: lines.length,
	least: 0,
	lines: (most) => (most < lines.length ? [] : lines),
});

/** Of lines that are always there. */
export const fixed = (lines: readonly Line[]): Part => ({
	most: lines.length,
	least: lines.length,
	lines: () => lines,
});

/**
The lines of every part, in the order of the parts.

@param parts - By name, in the order in which they stand.
@param giveWay - Their names, the first gives way first.
@param room - So many lines can be shown. Where even the least needs more, the least is what is returned.
*/
export function fitParts<Name extends string>(
	parts: Readonly<Record<Name, Part>>,
	giveWay: ReadonlyArray<NoInfer<Name>>,
	room: number,
): Readonly<Record<Name, readonly Line[]>> {
	const names = Object.keys(parts) as Name[];
	const granted = new Map(names.map((name) => [name, parts[name].most]));
	let excess = names.reduce((sum, name) => sum + parts[name].most, 0) - room;
	for (const name of giveWay) {
		const {most, least} = parts[name];
		const cut = Math.max(0, Math.min(excess, most - least));
		granted.set(name, most - cut);
		excess -= cut;
	}

	return Object.fromEntries(names.map((name) => [name, parts[name].lines(granted.get(name)!)])) as unknown as Record<
		Name,
		readonly Line[]
	>;
}
