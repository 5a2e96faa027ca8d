/** Output of a tool with `--json`: one or several documents, with warnings around them. */
export type ToolJson = {
	readonly documents: readonly unknown[];
	readonly remarks: readonly string[];
};

/** Maximum number of places that are tried as the beginning of JSON. */
const mostAttempts = 20;

/** Finds the JSON in a tool's output. Undefined if there is no JSON, or if a document was cut off. */
export const parseToolJson = (text: string): ToolJson | undefined => {
	// A document begins with a bracket at the start of a line. A quote, a bracket or a line end follows, unlike in a warning such as `[drm] ...`.
	const beginning = /^[\t ]*[\[\{][\t\r ]*(?=["\[\]\{\}]|$)/gmv;
	const documents: unknown[] = [];
	const remarks: string[] = [];
	let readUpTo = 0;
	for (let attempt = 0; attempt < mostAttempts; attempt++) {
		const start = beginning.exec(text)?.index;
		const end = start === undefined ? undefined : endOf(text, start);
		if (start === undefined || end === undefined) {
			break;
		}

		const document = parseOrUndefined(text.slice(start, end));
		if (document !== undefined) {
			documents.push(document);
			remarks.push(...linesOf(text.slice(readUpTo, start)));
			readUpTo = end;
		}

		beginning.lastIndex = end;
	}

	return documents.length === 0 ? undefined : {documents, remarks: [...remarks, ...linesOf(text.slice(readUpTo))]};
};

/** Returns the index after the document that begins at `start`, or undefined if the document is incomplete. */
const endOf = (text: string, start: number): number | undefined => {
	const step = /\\.|["\[\]\{\}]/gsv;
	step.lastIndex = start;
	let depth = 0;
	let isInString = false;
	for (let token = step.exec(text)?.[0]; token !== undefined; token = step.exec(text)?.[0]) {
		if (token === '"') {
			isInString = !isInString;
		} else if (!isInString && token.length === 1) {
			depth += token === '[' || token === '{' ? 1 : -1;
			if (depth === 0) {
				return step.lastIndex;
			}
		}
	}

	return undefined;
};

/** Matches Python's spelling of non-finite numbers, which JSON does not allow. */
const noNumber = /-?\b(?:NaN|Infinity)\b/gv;

const parseOrUndefined = (text: string): unknown => {
	for (const wording of [text, text.replaceAll(noNumber, 'null')]) {
		try {
			return JSON.parse(wording) as unknown;
		} catch {
			// The text is no JSON in Python's spelling either.
		}
	}

	return undefined;
};

export const linesOf = (text: string): readonly string[] =>
	text
		.split('\n')
		.map((line) => line.trim())
		.filter((line) => line !== '');
