import type {Finding} from '../../core/rules/pool/diagnosis.js';
import type {Paint} from '../text/paint.js';
import {sanitize} from '../text/text.js';

const marks = {ok: '✓', warning: '⚠', error: '✗'} as const;

export function diagnosisText(findings: readonly Finding[], paint: Paint): string {
	const paints = {ok: paint.available, warning: paint.unreserved, error: paint.error};
	return findings
		.flatMap(({check, level, words, fix}) => [
			`${paints[level](marks[level])} ${check.padEnd(11)} ${sanitize(words)}`,
			...(fix === undefined ? [] : [`${' '.repeat(14)}${paint.dim(sanitize(fix))}`]),
		])
		.join('\n');
}
