/** The fields of the reservation form, and the equivalent flags of `reserve`. */
import type {Wish} from '../core/operations/engine.js';
import {usualDurationSeconds} from '../core/rules/request/request.js';
import {needFlagsFor} from '../core/rules/request/need-text.js';
import {typedDuration} from './text/durations.js';

type FieldName = 'count' | 'duration' | 'note' | 'needs' | 'share' | 'force';

export type ReserveField = {
	readonly name: FieldName;
	readonly kind: 'count' | 'duration' | 'text' | 'check';
	readonly label: string;
	readonly hint: string;
	readonly most?: number;
	readonly preset?: string;
	/** Returns the hint and the upper bound of the field for the values that the user has typed so far. */
	readonly follow?: (values: ReserveValues) => Pick<ReserveField, 'hint' | 'most'>;
};

export type ReserveOffer = {
	/** The number of whole GPUs. Undefined if the user has already chosen GPUs. */
	readonly gpuCount: number | undefined;
	/** Returns the number of GPUs with the needed properties, if it can differ from `gpuCount`. */
	readonly gpuCountFor?: (needs: string) => number;
	readonly instanceCount?: number;
	readonly hasShares?: boolean;
	/** The default duration of a reservation. */
	readonly usualSeconds?: number | undefined;
	/** Features that the engine lacks. Undefined for the local engine. */
	readonly lacks?: ReadonlySet<Wish> | undefined;
	/** Model names for the examples in the hint. Not used with the local engine, whose examples are fixed. */
	readonly models?: readonly string[];
};

/** How many models the hint can name on the smallest screen. */
const mostModels = 3;

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
	const {
		gpuCount,
		gpuCountFor,
		instanceCount = 0,
		hasShares = false,
		usualSeconds = usualDurationSeconds,
		lacks,
	} = offer;
	const boundOf = (most: number) => ({hint: countHint(most, instanceCount), most: Math.max(most, instanceCount)});
	// A request for GPUs that the user has already chosen has no further requirements.
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
		{
			name: 'duration',
			kind: 'duration',
			label: 'Duration',
			hint: '30m, 2h, 1d, 1h30m',
			preset: typedDuration(usualSeconds),
		},
		{name: 'note', kind: 'text', label: 'Note', hint: 'what it is for'},
		...(examples.length === 0
			? []
			: [{name: 'needs', kind: 'text', label: 'Needs', hint: examples.join(', ')} as const]),
		...(hasShares
			? [{name: 'share', kind: 'text', label: 'Share', hint: '8G of each GPU; others can share the rest'} as const]
			: []),
		...(lacks?.has('force') === true
			? []
			: [{name: 'force', kind: 'check', label: 'Force', hint: 'also GPUs in use without a reservation'} as const]),
	];
}

/** The values as typed. Absent fields were not shown. */
export type ReserveValues = Readonly<Partial<Record<FieldName, string>>>;

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
