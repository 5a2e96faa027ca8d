import {useEffect, type ReactElement} from 'react';
import {Box} from 'ink';

type Properties = {
	/** The elements, one for each line, with keys. */
	readonly lines: readonly ReactElement[];
	/** Lines in view. */
	readonly rows: number;
	/** The wanted first line in view. */
	readonly scroll: number;
	/** Called with the last possible first line if `scroll` exceeds it. */
	readonly onBeyond: (first: number) => void;
};

/** Returns the first line in view, limited by the number of lines. */
export const firstLine = (scroll: number, total: number, rows: number): number =>
	Math.max(0, Math.min(scroll, total - rows));

/** Lines of which only a part is in view. */
export function ScrollLines({lines, rows, scroll, onBeyond}: Properties): ReactElement {
	const first = firstLine(scroll, lines.length, rows);
	const isBeyond = first !== scroll;
	useEffect(() => {
		if (isBeyond) {
			onBeyond(first);
		}
	}, [isBeyond, first, onBeyond]);
	return (
		<Box flexDirection="column" height={rows} flexShrink={0} overflowY="hidden">
			{lines.slice(first, first + rows)}
		</Box>
	);
}
