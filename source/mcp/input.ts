import {toJsonSchema} from '@valibot/to-json-schema';
import * as v from 'valibot';
import {CanhazgpuError, cutShort} from '../errors.js';
import type {Tool} from './tool.js';

/** Maximum length of any text. The core has another limit for each kind of text, such as a note. */
const longestText = 4096;

export const text = (description: string) => v.pipe(v.string(), v.maxLength(longestText), v.description(description));

export const whole = (least: number, most: number, description: string) =>
	v.pipe(v.number(), v.integer(), v.minValue(least), v.maxValue(most), v.description(description));

export const yesNo = (description: string) => v.pipe(v.boolean(), v.description(description));

export const leaseId = (description: string) =>
	v.pipe(v.string(), v.regex(/^[\w\-]{1,64}$/v, 'It must be a lease_id from gpu_status'), v.description(description));

export const jobId = (description: string) =>
	v.pipe(v.string(), v.regex(/^[\w+\-.\[\]]{1,64}$/v, 'It must be a job id from gpu_job'), v.description(description));

export const inputSchemaOf = ({input}: Pick<Tool, 'input'>) => {
	const {$schema, ...schema} = toJsonSchema(input, {
		target: 'draft-2020-12',
		typeMode: 'input',
		// Ignores the error that JSON Schema has no flags for patterns. These patterns mean the same without their flag `v`.
		errorMode: 'ignore',
		overrideAction: ({valibotAction, jsonSchema}) =>
			valibotAction.type === 'regex' && 'requirement' in valibotAction && valibotAction.requirement instanceof RegExp
				? {...jsonSchema, pattern: valibotAction.requirement.source}
				: undefined,
	});
	return {...schema, type: 'object' as const};
};

const fieldsOf = (tool: Pick<Tool, 'input'>): readonly string[] => Object.keys(inputSchemaOf(tool).properties ?? {});

/** Parses the arguments of a call. Throws `usage` with the first invalid field. */
export function parseInput(tool: Pick<Tool, 'name' | 'input'>, typed: unknown): unknown {
	const result = v.safeParse(tool.input, typed ?? {}, {abortEarly: true});
	if (result.success) {
		return result.output;
	}

	const [issue] = result.issues;
	const field = v.getDotPath(issue);
	const isUnknownField = issue.type === 'strict_object' && issue.expected === 'never';
	const fields = fieldsOf(tool);
	throw new CanhazgpuError(
		'usage',
		isUnknownField
			? `${tool.name} has no field ${cutShort(issue.received)}`
			: `${tool.name}: ${field === null ? '' : `${cutShort(field)}: `}${cutShort(issue.message)}`,
		{hint: fields.length === 0 ? 'It takes no fields.' : `Its fields are: ${fields.join(', ')}. Nothing was changed.`},
	);
}
