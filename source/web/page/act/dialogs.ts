/** The dialogs of the page: their fields, the request they send, and the equivalent command. */
import {
	reserveFields,
	reserveFlags,
	type ReserveField,
	type ReserveOffer,
	type ReserveValues,
} from '../../../format/reservation-form.js';
import {gpuList} from '../../../format/text/gpu-list.js';
import {shellCommand} from '../../../format/text/shell.js';
import type {Job, Waiter} from '../fields.js';
import {counted, dateText} from '../text.js';
import type {OwnLease} from './ownership.js';

export type Values = ReserveValues & {readonly all?: string};

type Field = Omit<ReserveField, 'name' | 'hint' | 'preset'> & {
	readonly name: keyof Values;
	readonly hint?: string;
	readonly preset: string;
};

export type Question = {
	readonly title: string;
	readonly about: readonly string[];
	readonly fields: readonly Field[];
	readonly submit: string;
	/** The button that closes the dialog. Defaults to `Cancel`. */
	readonly dismiss?: string;
	readonly act: string;
	readonly request: (values: Values) => Readonly<Record<string, unknown>>;
	readonly command: (values: Values) => string;
	readonly otherwise?: Question;
};

export type Offer = Omit<ReserveOffer, 'gpuCount' | 'instanceCount'> & {
	readonly gpuCount: number;
	readonly keepTime?: string | undefined;
	/** The number of MIG instances, and a description of each free instance. */
	readonly mig?: {readonly count: number; readonly words: readonly string[]} | undefined;
};

const isAsked = (text: string | undefined): text is string => text !== undefined && text.trim() !== '';

function wanted(gpu: number | undefined, {mig, ...offer}: Offer) {
	const ids = gpu === undefined ? undefined : [gpu];
	const fields = reserveFields({
		...offer,
		gpuCount: gpu === undefined ? offer.gpuCount : undefined,
		instanceCount: mig?.count,
	});
	return {
		about: gpu === undefined && mig !== undefined ? mig.words : [],
		fields: fields.map((field): Field => ({preset: '', ...field})),
		request: ({count = '1', duration = '', note, needs, share, force}: Values) => ({
			...(ids === undefined ? {count: Number(count)} : {gpus: ids}),
			duration,
			...(isAsked(note) && {note}),
			...(isAsked(needs) && {needs}),
			...(isAsked(share) && {share}),
			...(isAsked(force) && {force: true}),
		}),
		words: ({note = '', share = '', ...values}: Values) => [
			'canhazgpu',
			'reserve',
			...reserveFlags({...values, note: isAsked(note) ? note : '', share: share.trim()}, ids),
		],
	};
}

export function askJoin(gpu: number | undefined, offer: Offer): Question {
	const {about, fields, request, words} = wanted(gpu, offer);
	return {
		title: gpu === undefined ? 'Wait for GPUs' : `Wait for GPU ${gpu}`,
		about: [
			'Reserves the GPUs now if they are free. Otherwise waits in the queue while canhazgpu web --mine runs.',
			...about,
		],
		fields,
		submit: 'Wait',
		act: 'join',
		request,
		command: (values) => shellCommand(words(values)),
	};
}

export function askReserve(gpu: number | undefined, offer: Offer): Question {
	const {about, fields, request, words} = wanted(gpu, offer);
	return {
		title: gpu === undefined ? 'Reserve GPUs' : `Reserve GPU ${gpu}`,
		about,
		fields,
		submit: 'Reserve',
		act: 'reserve',
		request,
		command: (values) => shellCommand([...words(values), '--nonblock']),
		otherwise: askJoin(gpu, offer),
	};
}

/** Returns the GPUs of a reservation and, in parentheses, its part of them: `GPU 2 (8G, train)`. */
export const namedPart = (gpus: readonly number[], part: string): string =>
	part === '' ? gpuList(gpus) : `${gpuList(gpus)} (${part})`;

/** Says when a reservation ends, which may be all that distinguishes it from another one on the same GPU. */
const endWords = ({expiryTime}: OwnLease): readonly string[] =>
	expiryTime === undefined ? [] : [`It ends ${dateText(expiryTime)}.`];

const leaseFlags = ({leaseId, isAmongOwn}: OwnLease): readonly string[] => (isAmongOwn ? ['--lease', leaseId] : []);

export function askExtend(lease: OwnLease): Question {
	const {leaseId, gpus, parts} = lease;
	return {
		title: `Extend ${namedPart(gpus, parts)}`,
		about: endWords(lease),
		fields: [{name: 'duration', label: 'Longer by', kind: 'duration', hint: '30m, 2h, 1d, 1h30m', preset: '2h'}],
		submit: 'Extend',
		act: 'extend',
		request: ({duration: time = ''}) => ({lease_id: leaseId, duration: time}),
		command: ({duration: time = ''}) =>
			shellCommand(['canhazgpu', 'extend', '--gpu-ids', gpus.join(','), ...leaseFlags(lease), '--duration', time]),
	};
}

/** @param keepTime - The time that the dialog offers, such as `2h`. The server offers only a time that its policy allows. */
export function askKeep(lease: OwnLease, keepTime: string): Question {
	const {leaseId, gpus, parts} = lease;
	return {
		title: `Keep ${namedPart(gpus, parts)}`,
		about: ['The reservation stays for this time even if it is idle. If it would end earlier, its end is moved.'],
		fields: [
			{
				name: 'duration',
				label: 'Keep for',
				kind: 'duration',
				hint: '30m, 2h, 1h30m',
				preset: keepTime,
			},
		],
		submit: 'Keep',
		act: 'keep',
		request: ({duration: time = ''}) => ({lease_id: leaseId, duration: time}),
		command: ({duration: time = ''}) =>
			shellCommand(['canhazgpu', 'extend', '--gpu-ids', gpus.join(','), ...leaseFlags(lease), '--keep', time]),
	};
}

/** Returns the question that is asked before a release. `isWhole` is set if only the whole reservation can be released, which ends its job. */
export function askRelease(lease: OwnLease, isWhole: boolean): Question {
	const {gpu, leaseId, gpus, part, parts, isJob, isAmongOwn} = lease;
	const others = gpus.filter((other) => other !== gpu);
	const chosen = ({all = ''}: Values): readonly number[] => (all === '' && !isWhole ? [gpu] : gpus);
	return {
		title: `Release ${isWhole ? namedPart(gpus, parts) : namedPart([gpu], part)}`,
		about: [
			...(isAmongOwn ? endWords(lease) : []),
			isWhole
				? 'The whole job and everything that runs in it ends. Others may get its GPUs at once.'
				: isJob
					? 'Its job keeps running, and others may get its GPU.'
					: 'Others may get the GPU at once. Processes that still use it are not stopped.',
		],
		fields:
			others.length === 0 || isWhole
				? []
				: [
						{
							name: 'all',
							label: `Also ${gpuList(others)} of the same reservation`,
							kind: 'check',
							preset: '',
						},
					],
		submit: 'Release',
		act: 'release',
		request: (values) => ({lease_id: leaseId, gpus: chosen(values)}),
		command: (values) =>
			shellCommand(['canhazgpu', 'release', '--gpu-ids', chosen(values).join(','), ...leaseFlags(lease)]),
	};
}

export const askLeave = ({id, allocated_count: held}: Pick<Waiter, 'id' | 'allocated_count'>): Question => ({
	title: 'Leave the queue',
	about: held === 0 ? [] : [`${counted(held, 'GPU')} held for it ${held === 1 ? 'is' : 'are'} released.`],
	fields: [],
	submit: 'Leave',
	act: 'leave',
	request: () => ({entry_id: id}),
	command: () => shellCommand(['canhazgpu', 'queue', '--leave', id]),
});

/** @param siblings - How many other jobs of the same array have not ended. */
export function askCancelJob({id, state, command: words, array_id: array}: Job, siblings: number): Question {
	const chosen = ({all = ''}: Values): string => (all === '' ? id : (array ?? id));
	return {
		title: `Cancel job ${id}`,
		about: [
			words,
			state === 'running'
				? 'Its processes get SIGTERM, and after 30 seconds SIGKILL.'
				: 'It never starts, and neither do jobs that wait for its success.',
		],
		fields:
			siblings === 0
				? []
				: [
						{
							name: 'all',
							label: `Also the ${counted(siblings, 'other job')} of array ${array}`,
							kind: 'check',
							preset: '',
						},
					],
		submit: 'Cancel job',
		dismiss: 'Close',
		act: 'cancel',
		request: (values) => ({job_id: chosen(values)}),
		command: (values) => shellCommand(['canhazgpu', 'cancel', chosen(values)]),
	};
}

export const askRetryJob = ({id, command: words}: Job): Question => ({
	title: `Retry job ${id}`,
	about: [
		words,
		'Starts the command again in its old directory, with the environment variables of canhazgpu web --mine. Its output is added to the old one.',
	],
	fields: [],
	submit: 'Retry',
	act: 'retry',
	request: () => ({job_id: id}),
	command: () => shellCommand(['canhazgpu', 'retry', id]),
});
