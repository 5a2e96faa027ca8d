import {idWordsOf, isGpuId} from '../../core/rules/request/gpu-ids.js';
import {parseInstanceName} from '../../core/rules/mig/instances.js';
import {characterCount, longestLabel} from '../../core/rules/request/request.js';
import {CanhazgpuError, quoted} from '../../errors.js';
import type {NamedParts} from '../../format/instances.js';
import {sanitize} from '../../format/text/text.js';
import type {Input} from '../../command-line/command.js';

export function refuseBoth({has}: Pick<Input, 'has'>, one: string, other: string, hint?: string): void {
	if (has(one) && has(other)) {
		throw new CanhazgpuError('usage', `Give --${one} or --${other}, not both`, {hint});
	}
}

function typedParts(input: Input, flag: string): readonly string[] | undefined {
	const text = input.text(flag);
	return text === undefined ? undefined : idWordsOf(text);
}

/** Returns GPU ids such as `1,3` or `0-3`, in the order typed. Throws for anything else. */
export function idsOf(input: Input, flag = 'gpu-ids'): readonly number[] | undefined {
	const parts = typedParts(input, flag);
	const wrong = parts?.find((part) => !isGpuId(part));
	if (wrong !== undefined) {
		throw notAnId(flag, wrong, parseInstanceName(wrong) === undefined ? '' : ', but the name of a MIG instance');
	}

	return parts?.map(Number);
}

const notAnId = (flag: string, typed: string, besides = ''): CanhazgpuError =>
	new CanhazgpuError('usage', `--${flag}: ${quoted(typed)} is not a GPU id${besides}`, {
		hint: `Write ids with commas between them, or a range: --${flag} 1,3 or 0-3`,
	});

/** Returns GPU ids such as `1,3` or `0-3` and instances such as `0:1`, in the order typed. Throws for anything else. */
export function namedPartsOf(input: Input, flag = 'gpu-ids'): NamedParts | undefined {
	const parts = typedParts(input, flag);
	const wrong = parts?.find((part) => !isGpuId(part) && parseInstanceName(part) === undefined);
	if (wrong !== undefined) {
		throw notAnId(flag, wrong, wrong.includes(':') ? ', nor an instance such as 0:1' : '');
	}

	return (
		parts && {
			ids: parts.filter((part) => !part.includes(':')).map(Number),
			instances: parts.map((part) => parseInstanceName(part)).filter((name) => name !== undefined),
		}
	);
}

/** Returns a valid label. Returns undefined for an empty label, because scripts pass variables that may be empty. */
export function checkLabel(label: string | undefined): string | undefined {
	if (label === undefined || label === '') {
		return undefined;
	}

	const harmless = sanitize(label);
	const count = characterCount(label.trim());
	if (harmless === '' || harmless !== label.trim() || count > longestLabel) {
		const why = count > longestLabel ? `: it has ${count} characters` : '';
		throw new CanhazgpuError('usage', `--user: ${quoted(label)} is not a valid name${why}`, {
			hint: `Use 1 to ${longestLabel} letters, digits or punctuation marks.`,
		});
	}

	return harmless;
}
