export type Output = {readonly isTTY?: boolean; readonly columns?: number};

/** Returns the width of lines. As in POSIX, COLUMNS (set by `watch`) overrides the terminal. Undefined for a pipe, or a terminal that reports 0. */
export function columnsOf(
	output: Output | undefined,
	{COLUMNS: stated = ''}: Readonly<Record<string, string | undefined>>,
): number | undefined {
	const columns = /^[1-9]\d{0,4}$/v.test(stated) ? Number(stated) : (output?.columns ?? 0);
	return columns > 0 ? columns : undefined;
}
