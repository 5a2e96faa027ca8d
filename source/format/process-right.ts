import type {ProcessRight} from '../core/rules/pool/process-right.js';

type Words = {
	readonly short: string;
	readonly meaning: string;
};

export const processRightText: Readonly<Record<ProcessRight, Words>> = {
	'not-holder': {short: 'not holder', meaning: 'runs on a GPU that someone else holds'},
	unreserved: {short: 'unreserved', meaning: 'uses the GPU without a reservation'},
	unknown: {short: 'unknown', meaning: 'may belong to the holder, but its owner is unknown'},
	little: {short: 'small use', meaning: 'uses so little that the GPU counts as free'},
	desktop: {short: 'desktop', meaning: 'drives a display, and needs no reservation'},
	holder: {short: 'holder', meaning: 'belongs to the holder of the GPU'},
};
