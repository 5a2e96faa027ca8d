import {gpuStates} from '../../../format/states.js';
import type {Gpu} from '../fields.js';
import {noteWords, personOf, shownStates} from '../text.js';

export const layouts = ['cards', 'rows'] as const;
export const groupings = ['none', 'job', 'user'] as const;

export type GpuQuestion = {
	readonly filter: string;
	/** The account or label of a person. Empty to show the GPUs of all people. */
	readonly user: string;
	readonly state: Gpu['state'] | '';
	readonly mine: boolean;
	/** Undefined for the default: rows if there are many GPUs, and otherwise cards. */
	readonly layout: (typeof layouts)[number] | undefined;
	readonly group: (typeof groupings)[number];
};

const oneOf = <Choice extends string>(choices: readonly Choice[], word: string): Choice | undefined =>
	choices.find((choice) => choice === word);

export const questionIn = (query: URLSearchParams): GpuQuestion => ({
	filter: query.get('filter') ?? '',
	user: query.get('user') ?? '',
	state: oneOf(shownStates, query.get('state') ?? '') ?? '',
	mine: query.has('mine'),
	layout: oneOf(layouts, query.get('as') ?? ''),
	group: oneOf(groupings, query.get('group') ?? '') ?? 'none',
});

/** Returns the query for the address. The query always has `filter`, because the page hides the fields if there is no query. */
export const queryOf = ({filter, user, state, mine, layout, group}: GpuQuestion): Readonly<Record<string, string>> => ({
	filter,
	...(user !== '' && {user}),
	...(state !== '' && {state}),
	...(mine && {mine: ''}),
	...(layout !== undefined && {as: layout}),
	...(group !== 'none' && {group}),
});

const namesOf = (user: string | undefined): readonly string[] => {
	if (user === undefined) {
		return [];
	}

	const {name, account} = personOf(user);
	return account === undefined ? [name] : [name, account];
};

export function peopleOn({
	user,
	shares,
	unreserved_users: others,
	squatters,
	processes = [],
}: Gpu): ReadonlySet<string> {
	const holders = shares?.map((share) => share.user) ?? others ?? [user];
	const intruders = processes.filter(({pid}) => squatters?.includes(pid)).map((process) => process.user);
	return new Set([...holders, ...intruders].flatMap((name) => namesOf(name)));
}

export const peopleOnAll = (gpus: readonly Gpu[]): readonly string[] =>
	[...new Set(gpus.flatMap((gpu) => [...peopleOn(gpu)]))].toSorted((a, b) => a.localeCompare(b));

const textOf = (gpu: Gpu): string =>
	[
		`gpu ${gpu.gpu_id}`,
		gpuStates[gpu.state].label,
		...peopleOn(gpu),
		noteWords(gpu),
		...(gpu.shares?.map((share) => noteWords(share)) ?? []),
		gpu.model_info?.model,
		gpu.gpu_model,
		gpu.node,
		gpu.uuid,
		gpu.error,
		gpu.drain?.reason,
		...(gpu.processes?.flatMap(({command, name}) => [command ?? name]) ?? []),
	]
		.join('\n')
		.toLowerCase();

/** Whether a GPU matches the filter. `me` is the name of the reader. If it is empty, no GPU matches `mine`. */
export function isAsked(gpu: Gpu, {filter, user, state, mine}: GpuQuestion, me: string): boolean {
	const people = peopleOn(gpu);
	const text = textOf(gpu);
	return (
		(state === '' || gpu.state === state) &&
		(user === '' || people.has(user)) &&
		(!mine || people.has(me)) &&
		filter
			.toLowerCase()
			.split(/\s+/v)
			.every((word) => text.includes(word))
	);
}
