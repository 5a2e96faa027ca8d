/** What every face asks in its form of a reservation, and the flags of `reserve` that say the same. */
import type {Wish} from '../core/operations/engine.js';
import {needFlagsFor} from '../core/rules/request/need-text.js';

type FieldName = 'count' | 'duration' | 'note' | 'needs' | 'share' | 'force';

export type ReserveField = {
	readonly name: FieldName;
	readonly kind: 'count' | 'duration' | 'text' | 'check';
	readonly label: string;
	readonly hint: string;
	/** Of a count. */
	readonly most?: number;
	readonly preset?: string;
	/** What the hint and the bound become as the fields are filled in. */
	readonly follow?: (values: ReserveValues) => Pick<ReserveField, 'hint' | 'most'>;
};

export type ReserveOffer = {
	/** So many whole GPUs there are to choose from. Undefined: the GPUs were chosen. */
	readonly gpuCount: number | undefined;
	/** The same for what is needed of them. Absent: as many whatever is needed. */
	readonly gpuCountFor?: (needs: string) => number;
	/** So many instances of MIG there are to choose from. */
	readonly instanceCount?: number;
	/** Whether a part of a GPU can be had. */
	readonly hasShares?: boolean;
	/** What the engine cannot do; undefined where this program grants the GPUs. */
	readonly lacks?: ReadonlySet<Wish> | undefined;
	/** Of the GPUs, for an engine that lacks something. */
	readonly models?: readonly string[];
};

/** Models that the hint has room for on the smallest screen. */
const mostModels = 3;

/** Examples of what can be needed of any GPUs. None: there is nothing to choose. */
function needExamples({instanceCount = 0, lacks, models = []}: ReserveOffer): readonly string[] {
	const parts = instanceCount === 0 ? [] : ['1g.10gb'];
	if (lacks === undefined) {
		return ['40G', 'h100', '8.0', 'nvlink', 'mixed', ...parts, 'pack'];
	}

	const wishes = {
		'40G': 'min-memory',
		'8.0': 'min-compute',
		nvlink: 'nvlink',
		mixed: 'same-model',
		pack: 'strategy',
	} as const;
	return [
		...[...new Set(models)].slice(0, mostModels),
		...Object.entries(wishes).flatMap(([word, wish]) => (lacks.has(wish) ? [] : [word])),
		...parts,
	];
}

/** How many GPUs can be asked for, or instances. */
const countHint = (gpuCount: number, instanceCount: number): string =>
	(
		[
			['', gpuCount],
			['MIG ', instanceCount],
		] as const
	)
		.filter(([, most]) => most > 0)
		.map(([kind, most]) => `${kind}${most === 1 ? '1' : `1-${most}`}`)
		.join(', ');

export function reserveFields(offer: ReserveOffer): readonly ReserveField[] {
	const {gpuCount, gpuCountFor, instanceCount = 0, hasShares = false, lacks} = offer;
	const boundOf = (most: number) => ({hint: countHint(most, instanceCount), most: Math.max(most, instanceCount)});
	// GPUs that were chosen are what they are.
	const examples = gpuCount === undefined ? [] : needExamples(offer);
	return [
		...(gpuCount === undefined
			? []
			: [
					{
						name: 'count',
						kind: 'count',
						label: 'GPUs',
						...boundOf(gpuCount),
						preset: '1',
						...(gpuCountFor && {follow: ({needs = ''}: ReserveValues) => boundOf(gpuCountFor(needs))}),
					} as const,
				]),
		{name: 'duration', kind: 'duration', label: 'Duration', hint: '30m, 2h, 1d, 1h30m', preset: '8h'},
		{name: 'note', kind: 'text', label: 'Note', hint: 'what it is for'},
		...(examples.length === 0
			? []
			: [{name: 'needs', kind: 'text', label: 'Needs', hint: examples.join(', ')} as const]),
		...(hasShares
			? [{name: 'share', kind: 'text', label: 'Share', hint: '8G: a part of each GPU, others beside it'} as const]
			: []),
		...(lacks?.has('force') === true
			? []
			: [{name: 'force', kind: 'check', label: 'Force', hint: 'also GPUs in use without a reservation'} as const]),
	];
}

/** As it was typed; what is absent was not asked. */
export type ReserveValues = Readonly<Partial<Record<FieldName, string>>>;

/** @param ids - The GPUs that were chosen; undefined: any. */
export function reserveFlags(
	{count = '1', duration = '', note = '', needs = '', share = '', force = ''}: ReserveValues,
	ids: readonly number[] | undefined,
): readonly string[] {
	return [
		...(ids === undefined ? ['--gpus', count] : ['--gpu-ids', ids.join(',')]),
		...needFlagsFor(needs),
		...(share === '' ? [] : ['--share', share]),
		'--duration',
		duration,
		...(note === '' ? [] : ['--note', note]),
		...(force === '' ? [] : ['--force']),
	];
}
