/**
Makes the output of Ink cheaper while it is bundled: what it drew in the last frame it need not take apart again. Each line of a frame is read
into cells by way of its escape sequences, measured, and put together again; and Ink forgets all that with every frame. Here it remembers. A
frame stays what it was to the byte, which test/tui/ink-output.test.ts compares.
*/

/** Lines that are remembered, and texts with their widths: a few frames of them. */
const mostLines = 400;
const mostTexts = 4000;

/** By the end of a file's path: what is replaced by what. Each must be there exactly once, or the build fails. */
const changes: Readonly<Record<string, ReadonlyArray<readonly [before: string, after: string]>>> = {
	"/ink/build/output.js": [
		[
			"export default class Output {\n    operations = [];\n    caches = new OutputCaches();",
			`const sharedCaches = new OutputCaches();
const blank = { type: 'char', value: ' ', fullWidth: false, styles: [] };
/** The rows of the last frame, and the text of each. */
let lastRows = [];
const textOfRow = (row, y) => {
    const last = lastRows[y];
    if (last !== undefined && last.row.length === row.length && row.every((cell, x) => cell === last.row[x])) {
        return last.text;
    }
    const text = styledCharsToString(row.filter(item => item !== undefined)).trimEnd();
    lastRows[y] = { row, text };
    return text;
};
export default class Output {
    operations = [];
    caches = sharedCaches;`,
		],
		[
			"        if (cached === undefined) {\n            // Standalone invisible",
			`        if (cached === undefined) {
            if (this.styledChars.size >= ${mostLines}) {
                this.styledChars.clear();
            }
            // Standalone invisible`,
		],
		[
			"            cached = stringWidth(text);\n            this.widths.set(text, cached);",
			`            cached = stringWidth(text);
            if (this.widths.size >= ${mostTexts}) {
                this.widths.clear();
            }
            this.widths.set(text, cached);`,
		],
		[
			"        // Preserve styles across explicit newlines before clipping individual rows.\n        const characterLines = [[]];\n        for (const character of this.caches.getStyledChars(text)) {",
			`        const isOneLine = !clip && !text.includes('\\n');
        // Preserve styles across explicit newlines before clipping individual rows.
        const characterLines = [[]];
        for (const character of isOneLine ? [] : this.caches.getStyledChars(text)) {`,
		],
		[
			"        let lines = characterLines.map(line => styledCharsToString(line));",
			"        let lines = isOneLine ? [text] : characterLines.map(line => styledCharsToString(line));",
		],
		[
			"                row.push({\n                    type: 'char',\n                    value: ' ',\n                    fullWidth: false,\n                    styles: [],\n                });",
			"                row.push(blank);",
		],
		[
			`            .map(line => {
            // See https://github.com/vadimdemedes/ink/pull/564#issuecomment-1637022742
            const lineWithoutEmptyItems = line.filter(item => item !== undefined);
            return styledCharsToString(lineWithoutEmptyItems).trimEnd();
        })`,
			"            .map((line, y) => textOfRow(line, y))",
		],
	],
	"/ink/build/render-node-to-output.js": [
		[
			"import widestLine from 'widest-line';",
			`import measureWidestLine from 'widest-line';
const widest = new Map();
const widestLine = (text) => {
    let width = widest.get(text);
    if (width === undefined) {
        width = measureWidestLine(text);
        if (widest.size >= ${mostLines}) {
            widest.clear();
        }
        widest.set(text, width);
    }
    return width;
};`,
		],
	],
};

/**
The source of a file of Ink as it is bundled; that of any other file as it is.

@param id - The path of the file.
@throws When Ink has changed.
*/
export function withMemory(code: string, id: string): string {
	const found = Object.entries(changes).find(([end]) => id.endsWith(end));
	let changed = code;
	for (const [before, after] of found?.[1] ?? []) {
		if (changed.split(before).length !== 2) {
			throw new Error(`${id}: Ink has changed, and .config/ink-output.ts has not. It looks for:\n${before}`);
		}

		changed = changed.replace(before, () => after);
	}

	return changed;
}
