/** Keeps the last answer of a pure function for as long as what it was made from is the same. */
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
