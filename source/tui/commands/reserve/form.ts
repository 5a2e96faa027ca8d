import {CanhazgpuError, quoted} from '../../../errors.js';
import {offersShares} from '../../../core/operations/engine.js';
import type {StrategyName} from '../../../core/model/need.js';
import type {Need, Requester} from '../../../core/model/types.js';
import {inventory} from '../../../core/rules/allocation/instances.js';
import {mostGpusFor} from '../../../core/rules/allocation/need.js';
import {defaultSeconds, limitsOf} from '../../../core/rules/limits/limits.js';
import {isWhole} from '../../../core/rules/mig/instances.js';
import {wholeGpus} from '../../../core/rules/pool/status.js';
import {parseNeeds, wishOf} from '../../../core/rules/request/need-text.js';
import {freeLines} from '../../../format/instances.js';
import {
	reserveFields,
	reserveFlags,
	type ReserveField,
	type ReserveOffer,
	type ReserveValues,
} from '../../../format/reservation-form.js';
import {sanitize} from '../../../format/text/text.js';
import {formOf, type Form} from '../../state/dialogs.js';
import {remembering} from '../../state/memo.js';
import {latestOf} from '../../state/pause.js';
import {gpuCountOf, rowsOf, type State} from '../../state/state.js';
import {secondsOf, valueOf} from '../../state/form.js';

/** A GPU that was chosen when the dialog was opened. The UUID shows whether the number still belongs to the same GPU. */
type NamedGpu = {readonly index: number; readonly uuid: string | undefined};

type Wanted = {
	/** The chosen GPUs. Undefined if any GPUs will do. */
	readonly gpus?: readonly NamedGpu[];
	readonly willWait: boolean;
};

type FreeNow = {
	/** The free GPUs. Undefined if an engine chooses the GPUs. */
	readonly freeIds?: readonly number[];
	/** Lines that list the free GPUs and MIG instances. */
	readonly free: readonly string[];
};

export type ReserveForm = Form<Wanted>;

/** Adds the monitor's keys for a field to the field's hint. */
const withKeys = (field: ReserveField): ReserveField => {
	const {kind, hint, follow} = field;
	if (kind !== 'count') {
		return kind === 'check' ? {...field, hint: `Space: ${hint}`} : field;
	}

	const withHint = <Bound extends Pick<ReserveField, 'hint' | 'most'>>(bound: Bound): Bound =>
		bound.most === 1 ? bound : {...bound, hint: `${bound.hint} (Up/Down to change)`};
	return {...withHint(field), ...(follow && {follow: (values) => withHint(follow(values))})};
};

export const reserveFormFields = (offer: ReserveOffer): readonly ReserveField[] =>
	reserveFields(offer).map((field) => withKeys(field));

/** Returns the maximum number of GPUs in one reservation. On a cluster, they must all be on one node. */
function mostGpus(state: State): number {
	const places = latestOf(state).observation?.gpus.flatMap(({place}) => place ?? []) ?? [];
	const counts = Map.groupBy(places, ({node}) => node)
		.values()
		.map(({length}) => length);
	return places.length === 0 ? gpuCountOf(state) : Math.max(...counts);
}

export const mayShare = (state: State): boolean => offersShares(state.settings.lacks, latestOf(state).snapshot);

function usualSecondsOf({settings: {requester, groupsAmong = () => []}, snapshot}: State): number | undefined {
	return snapshot && defaultSeconds(limitsOf(snapshot, requester, groupsAmong));
}

/** Returns the requirements for whole GPUs. While the text is invalid, returns no requirements. */
function wholeNeedOf(needs: string): Need {
	try {
		const {mig: _, ...need} = parseNeeds(needs).need ?? {};
		return need;
	} catch {
		return {};
	}
}

/** Returns how many whole GPUs one request with these requirements can get. If no GPU meets the requirements, ignores them. */
function gpuCountFor(state: State, needs: string): number {
	const {observation} = latestOf(state);
	if (observation === undefined || state.settings.lacks !== undefined) {
		return mostGpus(state) - wholeGpus(rowsOf({...state, ...latestOf(state)})).split;
	}

	const most = (need: Need): number => mostGpusFor(need, observation, gpuCountOf(state));
	const count = most(wholeNeedOf(needs));
	return count === 0 ? most({}) : count;
}

/** Returns what is free now, even if the screen is paused. */
export const freeNow = remembering(
	(state: State) => {
		const {snapshot, observation, scanFailure} = latestOf(state);
		return [snapshot, observation, scanFailure, state.settings];
	},
	(state): FreeNow => {
		const {observation, snapshot} = latestOf(state);
		const rows = rowsOf({...state, ...latestOf(state)});
		const freeIds =
			state.settings.lacks?.has('ids') === true
				? undefined
				: rows.flatMap((row) => (row.state === 'available' && isWhole(row.reading) !== false ? [row.index] : []));
		const instances = inventory(observation?.gpus ?? [], snapshot?.gpus ?? []);
		return {freeIds, free: freeLines(wholeGpus(rows), instances, freeIds)};
	},
);

export function reserveForm(state: State, willWait: boolean, gpus?: readonly number[]): ReserveForm {
	const named = gpus?.map((index): NamedGpu => ({index, uuid: rowsOf(state)[index]?.reading?.uuid}));
	const {observation, snapshot} = latestOf(state);
	const instances = named === undefined ? inventory(observation?.gpus ?? [], snapshot?.gpus ?? []) : [];
	return formOf(
		'reserve',
		{gpus: named, willWait},
		reserveFormFields({
			gpuCount: named === undefined ? gpuCountFor(state, '') : undefined,
			gpuCountFor: (needs) => gpuCountFor(state, needs),
			instanceCount: instances.reduce((sum, {total}) => sum + total, 0),
			hasShares: mayShare(state),
			usualSeconds: usualSecondsOf(state),
			lacks: state.settings.lacks,
			models: observation?.gpus.flatMap(({name}) => (name === undefined ? [] : [sanitize(name)])),
		}),
	);
}

const valuesOf = (form: ReserveForm): ReserveValues =>
	Object.fromEntries(form.fields.map(({name}) => [name, valueOf(form, name)]));

/** Returns the flags of `canhazgpu reserve` that have the same effect as the form. */
export const flagsOf = (form: ReserveForm, requester: Requester): readonly string[] => [
	...reserveFlags(
		valuesOf(form),
		form.gpus?.map(({index}) => index),
	),
	...(requester.label === requester.account ? [] : ['--user', requester.label]),
];

export type Reservation = {
	readonly count: number;
	readonly gpus?: readonly NamedGpu[];
	readonly durationSeconds: number;
	readonly note?: string;
	readonly force: boolean;
	/** The requirements, for a request without chosen GPUs. */
	readonly need?: Need;
	readonly strategy?: StrategyName;
};

function countOf(form: ReserveForm): number {
	const text = valueOf(form, 'count');
	if (text === '') {
		throw new CanhazgpuError('usage', 'How many GPUs?', {hint: 'Type a number.'});
	}

	if (!/^\d+$/v.test(text) || Number(text) < 1) {
		throw new CanhazgpuError('usage', `GPUs: ${quoted(text)} is not a number of GPUs`, {hint: 'Type 1 or more.'});
	}

	return Number(text);
}

/** Reads the form. Throws `usage` for the first invalid field. */
export function reservationOf(form: ReserveForm): Reservation {
	const {gpus} = form;
	const count = gpus?.length ?? countOf(form);
	const note = valueOf(form, 'note');
	const wish = wishOf({count, needs: valueOf(form, 'needs'), share: valueOf(form, 'share')});
	return {
		count,
		...wish,
		gpus,
		durationSeconds: secondsOf(form),
		note: note === '' ? undefined : note,
		force: valueOf(form, 'force') !== '',
	};
}
