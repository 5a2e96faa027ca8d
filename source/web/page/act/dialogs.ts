/** What is asked before something is done, the request that does it, and the command that does the same. */
import {shellCommand} from '../../../format/text/shell.js';
import type {Waiter} from '../fields.js';
import {counted, dateText} from '../text.js';
import type {OwnLease} from './ownership.js';

export type FieldName = 'count' | 'duration' | 'note' | 'all';

export type Values = Readonly<Partial<Record<FieldName, string>>>;

type Field = {
	readonly name: FieldName;
	readonly label: string;
	readonly kind: 'number' | 'text' | 'check';
	readonly hint?: string;
	/** Of a number. */
	readonly most?: number;
	readonly preset: string;
};

export type Question = {
	readonly title: string;
	/** What it means. */
	readonly about: readonly string[];
	readonly fields: readonly Field[];
	readonly submit: string;
	/** The address behind /api/act/. */
	readonly act: string;
	/** Without the id that each attempt bears. */
	readonly request: (values: Values) => Readonly<Record<string, unknown>>;
	readonly command: (values: Values) => string;
	/** What to ask instead where the GPUs are not free now. */
	readonly otherwise?: Question;
};

const gpuNames = (gpus: readonly number[]): string => `${gpus.length === 1 ? 'GPU' : 'GPUs'} ${gpus.join(', ')}`;

const duration = (label: string, preset: string): Field => ({
	name: 'duration',
	label,
	kind: 'text',
	hint: '30m, 2h, 1d, 1h30m',
	preset,
});

/** @param gpu - This very one. Undefined: so many of any, out of `count`. */
const wanted = (gpu: number | undefined, count: number) => ({
	fields: [
		...(gpu === undefined
			? [{name: 'count', label: 'GPUs', kind: 'number', hint: `1 to ${count}`, most: count, preset: '1'} as const]
			: []),
		duration('Duration', '8h'),
		{name: 'note', label: 'Note', kind: 'text', hint: 'what it is for; everybody sees it', preset: ''} as const,
	],
	request: ({count: text = '1', duration: time = '', note = ''}: Values) => ({
		...(gpu === undefined ? {count: Number(text)} : {gpus: [gpu]}),
		duration: time,
		...(note.trim() !== '' && {note}),
	}),
	words: ({count: text = '1', duration: time = '', note = ''}: Values) => [
		'canhazgpu',
		'reserve',
		...(gpu === undefined ? ['--gpus', text] : ['--gpu-ids', String(gpu)]),
		'--duration',
		time,
		...(note.trim() === '' ? [] : ['--note', note]),
	],
});

export function askJoin(gpu: number | undefined, count: number): Question {
	const {fields, request, words} = wanted(gpu, count);
	return {
		title: gpu === undefined ? 'Wait for GPUs' : `Wait for GPU ${gpu}`,
		about: ['It reserves them now if they are free, else it waits in the queue as long as canhazgpu web --mine runs.'],
		fields,
		submit: 'Wait',
		act: 'join',
		request,
		command: (values) => shellCommand(words(values)),
	};
}

export function askReserve(gpu: number | undefined, count: number): Question {
	const {fields, request, words} = wanted(gpu, count);
	return {
		title: gpu === undefined ? 'Reserve GPUs' : `Reserve GPU ${gpu}`,
		about: [],
		fields,
		submit: 'Reserve',
		act: 'reserve',
		request,
		command: (values) => shellCommand([...words(values), '--nonblock']),
		otherwise: askJoin(gpu, count),
	};
}

export const askExtend = ({leaseId, gpus, expiryTime}: OwnLease): Question => ({
	title: `Extend ${gpuNames(gpus)}`,
	about: expiryTime === undefined ? [] : [`It ends ${dateText(expiryTime)}.`],
	fields: [duration('Longer by', '2h')],
	submit: 'Extend',
	act: 'extend',
	request: ({duration: time = ''}) => ({lease_id: leaseId, duration: time}),
	command: ({duration: time = ''}) =>
		shellCommand(['canhazgpu', 'extend', '--gpu-ids', gpus.join(','), '--duration', time]),
});

/** @param isWhole - It is given back with all of its GPUs or not at all, and then what runs on them ends. */
export function askRelease({gpu, leaseId, gpus, isJob}: OwnLease, isWhole: boolean): Question {
	const others = gpus.filter((other) => other !== gpu);
	const chosen = ({all = ''}: Values): readonly number[] => (all === '' && !isWhole ? [gpu] : gpus);
	return {
		title: `Release ${isWhole ? gpuNames(gpus) : `GPU ${gpu}`}`,
		about: [
			isWhole
				? 'The whole job ends, with all that runs in it. Others may get its GPUs at once.'
				: isJob
					? 'Its job keeps running, and others may get its GPU.'
					: 'Others may get it at once. Processes that still use it are not stopped.',
		],
		fields:
			others.length === 0 || isWhole
				? []
				: [
						{
							name: 'all',
							label: `Also ${gpuNames(others)} of the same reservation`,
							kind: 'check',
							preset: '',
						},
					],
		submit: 'Release',
		act: 'release',
		request: (values) => ({lease_id: leaseId, gpus: chosen(values)}),
		command: (values) => shellCommand(['canhazgpu', 'release', '--gpu-ids', chosen(values).join(',')]),
	};
}

export const askLeave = ({id, allocated_count: held}: Pick<Waiter, 'id' | 'allocated_count'>): Question => ({
	title: 'Leave the queue',
	about: held === 0 ? [] : [`${counted(held, 'GPU')} held for it ${held === 1 ? 'is' : 'are'} given back.`],
	fields: [],
	submit: 'Leave',
	act: 'leave',
	request: () => ({entry_id: id}),
	command: () => shellCommand(['canhazgpu', 'queue', '--leave', id]),
});
