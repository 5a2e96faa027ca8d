import {expect, test} from 'vitest';
import {explainRun, tidyWarnings} from '../../../source/gpu/tool/failures.js';

const words = {known: [], missingHint: '', hangHint: ''};

test("explainRun shows a tool's output without terminal control characters", () => {
	const stderr = '\u{1B}]0;renamed\u{7}\u{1B}[31mERROR\u{202E} broken\u{9B}2J\n';
	const outcome = {stdout: '', stderr, exitCode: 1, signal: undefined, failure: undefined, detail: undefined};
	expect(explainRun(outcome as Parameters<typeof explainRun>[0], 'nvidia-smi', 5000, words)).toEqual({
		message: 'nvidia-smi exited with 1.',
		hint: 'It said: ]0;renamed[31mERROR broken2J',
	});
	expect(tidyWarnings(['WARNING: \u{1B}[31mhot\u{7}'])).toEqual(['[31mhot']);
});
