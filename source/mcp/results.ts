import type {CallToolResult} from '@modelcontextprotocol/server';
import {CanhazgpuError, messageOf} from '../errors.js';
import {sanitize} from '../format/text/text.js';
import type {Answer} from './tool.js';

/** @param notices - What happened since the last answer, such as the end of a reservation. */
export const resultOf = ({json, words}: Answer, notices: readonly string[]): CallToolResult => ({
	content: [{type: 'text', text: [...notices, words].join(' ')}],
	...(json !== undefined && {
		// eslint-disable-next-line unicorn/prefer-structured-clone -- removes fields without a value, as the output of a command does
		structuredContent: JSON.parse(JSON.stringify(json)) as Record<string, unknown>,
	}),
});

const asSentence = (words: string): string => sanitize(words).replace(/(?<![!.?])$/v, '.');

/** Returns the result for an error. An error that the client cannot fix is a bug, and is also passed to `failed`. */
export function failureOf(
	error: unknown,
	notices: readonly string[],
	failed: (error: unknown) => void,
): CallToolResult {
	const isKnown = error instanceof CanhazgpuError;
	if (!isKnown) {
		failed(error);
	}

	const words = isKnown
		? [error.message, ...(error.agentHint === undefined ? [] : [error.agentHint])]
		: [`This is a bug in canhazgpu: ${messageOf(error)}`, 'See what you hold: gpu_status.'];
	return {
		content: [{type: 'text', text: [...notices, ...words.map((line) => asSentence(line))].join(' ')}],
		isError: true,
	};
}
