/** Where a text goes. */
export type Output = {readonly isTTY?: boolean; readonly columns?: number};

/**
How wide the lines of a text may be: POSIX lets COLUMNS count more than what the terminal says, and `watch` exports it for what it shows. Undefined in a
pipe of unknown width, and on a terminal that says 0.
*/
export function columnsOf(
	output: Output | undefined,
	{COLUMNS: stated = ''}: Readonly<Record<string, string | undefined>>,
): number | undefined {
	const columns = /^[1-9]\d{0,4}$/v.test(stated) ? Number(stated) : (output?.columns ?? 0);
	return columns > 0 ? columns : undefined;
}
