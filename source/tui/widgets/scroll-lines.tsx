import {useEffect, type ReactElement} from 'react';
import {Box} from 'ink';

type Properties = {
	/** The elements to show, one on each line. Each needs a React key. */
	readonly lines: readonly ReactElement[];
	/** The number of lines that are in view. */
	readonly rows: number;
	/** The line that should be the first one in view. */
	readonly scroll: number;
	/** Called if `scroll` is too large, with the line that is the first one in view instead. */
	readonly onBeyond: (first: number) => void;
};

/** Returns the first line in view. Corrects `scroll` so that no line after the last one is shown. */
export const firstLine = (scroll: number, total: number, rows: number): number =>
	Math.max(0, Math.min(scroll, total - rows));

/** Shows as many of the lines as are in view. */
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
