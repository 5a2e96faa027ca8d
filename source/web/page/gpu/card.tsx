import {gpuStates} from '../../../format/states.js';
import type {Gpu} from '../fields.js';
import {late} from '../late.js';
import {now} from '../state/store.js';
import {Watch} from '../observable.js';
import {emptySeries, type Utilization} from '../state/state.js';
import {Meter, PersonName} from '../widgets.js';
import {
	gibibytes,
	idleText,
	joined,
	noteWords,
	partText,
	percentOf,
	placeText,
	sharesText,
	timeText,
	unknown,
	withUnit,
} from '../text.js';
import {followUp, GpuActions} from '../slots.js';

export const Details = late(async () => import('./details.js'), 'details');

/** Maximum number of GPUs that are shown as cards by default. If there are more, all are shown as rows. */
export const mostPlainCards = 16;

export const placeholders: Readonly<Record<Gpu['state'], string>> = {
	available: 'Nobody',
	'in-use': 'Unknown user',
	unreserved: 'Unknown user',
	drained: 'Out of service',
	error: 'Out of service',
};

export const noteText = (gpu: Gpu): string | undefined =>
	gpu.state === 'drained'
		? [gpu.drain?.reason, gpu.drain?.by === undefined ? undefined : `by ${gpu.drain.by}`].filter(Boolean).join(', ')
		: ((gpu.state === 'error' ? gpu.error : undefined) ??
			(gpu.shares && sharesText(gpu)) ??
			noteWords(gpu) ??
			gpu.model_info?.model ??
			gpu.processes?.[0]?.command ??
			gpu.processes?.[0]?.name);

type FlagProps = {readonly state: Gpu['state']; readonly words: string};

/** The space at the end separates the words from the next ones for screen readers. */
const Flag = ({state, words}: FlagProps) => (
	<>
		<span class="flag" data-state={state}>
			{words}
		</span>{' '}
	</>
);

const capitalized = (words: string): string => `${words[0]!.toUpperCase()}${words.slice(1)}`;

const IdleFlag = ({gpu}: {readonly gpu: Gpu}) => (
	<Watch of={now}>
		{(nowMs) => {
			const words = idleText(gpu, nowMs);
			return words === undefined ? undefined : (
				<Flag
					state={gpu.reclaim_at === undefined && gpu.parked_since === undefined ? 'in-use' : 'unreserved'}
					words={capitalized(words)}
				/>
			);
		}}
	</Watch>
);

const heatText = ({temperature, power_w: power}: Gpu): string =>
	joined(
		temperature === undefined ? '' : withUnit(temperature, ' °C'),
		power === undefined ? '' : withUnit(power, ' W'),
	);

const memoryText = ({memory_used_mb: used, memory_total_mb: total}: Gpu): string =>
	total === undefined
		? gibibytes(used)
		: `${used === undefined ? unknown : (used / 1024).toFixed(1)} / ${gibibytes(total)}`;

const modelText = (gpu: Gpu): string =>
	joined(placeText(gpu), gpu.mig_instances && `MIG ${partText(gpu.mig_instances)}`, gpu.gpu_model);

export const GpuTime = ({gpu}: {readonly gpu: Gpu}) => (
	<p class="time">
		<Watch of={now}>{(nowMs) => timeText(gpu, nowMs)}</Watch>
	</p>
);

export function StatePill({gpu, isShort = false}: {readonly gpu: Gpu; readonly isShort?: boolean}) {
	const {label, short, meaning} = gpuStates[gpu.held_for_queue === undefined ? gpu.state : 'waiting'];
	return (
		<span class="state" title={meaning}>
			{isShort ? short : label}
		</span>
	);
}

type GpuCardProps = {
	readonly gpu: Gpu;
	/** Undefined for a GPU of another host, because its history is unknown. */
	readonly utilization: Utilization | undefined;
	readonly isOpen: boolean;
	readonly toggle: () => void;
	readonly prefix: string;
};

/** Whether a click on the card opens it. A click on the card's button does not open it, and neither does a click that selects text. */
const isPressOfCard = ({target}: Event): boolean =>
	(getSelection()?.isCollapsed ?? true) && target instanceof Element && target.closest('button') === null;

function GpuCard({gpu, utilization, isOpen, toggle, prefix}: GpuCardProps) {
	const id = `${prefix}-${gpu.gpu_id}-details`;
	const note = noteText(gpu);
	const model = modelText(gpu);
	const more = followUp.get();
	return (
		<li class="gpu" data-gpu={gpu.gpu_id} data-state={gpu.state} data-open={isOpen ? '' : undefined}>
			<div
				class="card"
				onClick={(event) => {
					if (isPressOfCard(event)) {
						toggle();
					}
				}}
			>
				<div class="card-title">
					<h3 class="index">
						<button type="button" aria-expanded={isOpen} aria-controls={id} onClick={toggle}>
							{`GPU ${gpu.gpu_id}`}
						</button>
					</h3>
					<StatePill gpu={gpu} />
				</div>
				<PersonName user={gpu.user} placeholder={placeholders[gpu.state]} />
				<GpuTime gpu={gpu} />
				{/* A list of users follows the text direction of the page, whatever the direction of their names is. */}
				<p class="note" dir={gpu.shares ? undefined : 'auto'} title={note}>
					{gpu.drain && gpu.state !== 'drained' && <Flag state="drained" words="Draining" />}
					{gpu.health && <Flag state="error" words="Unhealthy" />}
					{gpu.squatters && <Flag state="unreserved" words="Others also use this GPU" />}
					{(gpu.reclaim_at ?? gpu.beyond_limit ?? gpu.parked_since ?? gpu.keep_until) !== undefined && (
						<IdleFlag gpu={gpu} />
					)}
					{note}
				</p>
				<div class="meters">
					<Meter label="Use" percent={gpu.utilization} words={withUnit(gpu.utilization, ' %')} />
					<Meter label="Memory" percent={percentOf(gpu.memory_used_mb, gpu.memory_total_mb)} words={memoryText(gpu)} />
				</div>
				{utilization &&
					(more ? (
						<more.Spark series={utilization.gpus.get(gpu.gpu_id) ?? emptySeries} />
					) : (
						<svg class="spark" aria-hidden="true" />
					))}
				<div class="card-foot">
					<span class="model" title={model}>
						{model}
					</span>
					<span class="heat">{heatText(gpu)}</span>
				</div>
				{utilization && <GpuActions gpu={gpu} />}
			</div>
			<div class="card-body" id={id} hidden={!isOpen}>
				{isOpen && <Details gpu={gpu} utilization={utilization} address={utilization && `#/gpu/${gpu.gpu_id}`} />}
			</div>
		</li>
	);
}

type OpenGpus = ReadonlySet<number>;

type CardsProps = {
	readonly id?: string;
	readonly gpus: readonly Gpu[];
	readonly utilization?: Utilization;
	readonly open: OpenGpus;
	readonly setOpen: (open: OpenGpus) => void;
	readonly prefix?: string;
	readonly isOld?: boolean;
};

export const Cards = ({id, gpus, utilization, open, setOpen, prefix = 'gpu', isOld = false}: CardsProps) => (
	<ul id={id} class="cards" data-old={isOld ? '' : undefined} data-arrows="h3 button">
		{gpus.map((gpu) => (
			<GpuCard
				key={gpu.gpu_id}
				gpu={gpu}
				utilization={utilization}
				isOpen={open.has(gpu.gpu_id)}
				toggle={() => {
					setOpen(open.symmetricDifference(new Set([gpu.gpu_id])));
				}}
				prefix={prefix}
			/>
		))}
	</ul>
);
