/** Output of a tool with `--json`: one or several documents, with warnings around them. */
export type ToolJson = {
	readonly documents: readonly unknown[];
	readonly remarks: readonly string[];
};

/** Limit for the places at which JSON may seem to begin. */
const mostAttempts = 20;

/** Finds the JSON in a tool's output. Undefined without JSON, and for a document that was cut off. */
export const parseToolJson = (text: string): ToolJson | undefined => {
	// A document begins with a bracket at the start of a line. Next is a text, a bracket or a line end, unlike in a warning such as `[drm] ...`.
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

/** Returns the index after the first document, or undefined if it is incomplete. */
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
