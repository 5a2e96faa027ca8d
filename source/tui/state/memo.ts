/** Returns a function that caches its last answer. A new answer is computed only if a value that `partsOf` returns has changed. */
export function remembering<Input, Answer>(
	partsOf: (input: Input) => readonly unknown[],
	answerTo: (input: Input) => Answer,
): (input: Input) => Answer {
	let last: {readonly parts: readonly unknown[]; readonly answer: Answer} | undefined;
	return (input) => {
		const parts = partsOf(input);
		if (last === undefined || last.parts.some((part, index) => part !== parts[index])) {
			last = {parts, answer: answerTo(input)};
		}

		return last.answer;
	};
}

/** Returns a function that returns the same list as before until an element changes, so that components do not render again. */
export function keepingEqual<Input, Element extends Readonly<Record<string, unknown>>>(
	listOf: (input: Input) => readonly Element[],
): (input: Input) => readonly Element[] {
	let last: readonly Element[] = [];
	const isEqual = (a: Element, b: Element): boolean => Object.keys(a).every((name) => a[name] === b[name]);
	return (input) => {
		const next = listOf(input);
		if (next.length !== last.length || next.some((element, index) => !isEqual(element, last[index]!))) {
			last = next;
		}

		return last;
	};
}

/**
Returns a function whose list has the same elements as before, as long as they pass `isSame`, so that memoized rows do not render again. If all
elements stay, the list itself stays, too.
*/
export function keepingElements<Input, Element>(
	listOf: (input: Input) => readonly Element[],
	isSame: (a: Element, b: Element) => boolean,
): (input: Input) => readonly Element[] {
	let given: readonly Element[] = [];
	let last: readonly Element[] = [];
	return (input) => {
		const next = listOf(input);
		if (next !== given) {
			const before = last;
			given = next;
			const kept = next.map((element, index) => {
				const old = before[index];
				return index < before.length && isSame(old!, element) ? old! : element;
			});
			const isUnchanged = kept.length === before.length && kept.every((element, index) => element === before[index]);
			last = isUnchanged ? before : kept;
		}

		return last;
	};
}
