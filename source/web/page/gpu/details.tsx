import type {Gpu} from '../fields.js';
import {useNow} from '../shared/hooks.js';
import type {Utilization} from '../state/state.js';
import {
	counted,
	dateText,
	noteWords,
	partText,
	placeText,
	sharePart,
	sinceText,
	sizeText,
	untilText,
	withUnit,
} from '../text.js';
import {Chart} from './chart.js';
import {MigParts, Processes} from './processes.js';

const kinds: Readonly<Record<string, string>> = {run: 'Job (run)', manual: 'Reservation (manual)'};

const modelText = ({model_info: model}: Gpu): string | undefined =>
	model &&
	[model.provider, model.model]
		.filter((part) => part !== undefined && model.model?.startsWith(`${part}/`) !== true)
		.join(' / ');

const ago = (time: string | undefined, nowMs: number): string | undefined =>
	time === undefined ? undefined : `${dateText(time)} (${sinceText(time, nowMs)} ago)`;

const endText = ({expiry_time: expiry, ends_by: endsBy}: Gpu, nowMs: number): string | undefined => {
	const end = expiry ?? endsBy;
	return end === undefined ? undefined : `${dateText(end)} (in ${untilText(end, nowMs)})`;
};

const idleTime = ({idle_since: time}: Gpu, nowMs: number): string | undefined =>
	time === undefined ? undefined : `for ${sinceText(time, nowMs)}`;

function returnText({reclaim_at: time, beyond_limit: isBeyond}: Gpu, nowMs: number): string | undefined {
	if (isBeyond === true) {
		return `${time === undefined ? 'when somebody waits' : dateText(time)}, because it is beyond its limit`;
	}

	return time === undefined
		? undefined
		: Date.parse(time) > nowMs
			? `${dateText(time)}, unless it is used before`
			: 'when somebody waits, because it is idle';
}

const heartbeatText = ({reservation_type: kind, last_heartbeat: time}: Gpu, nowMs: number): string | undefined =>
	kind === 'run' && time !== undefined ? `${sinceText(time, nowMs)} ago` : undefined;

const drainText = ({drain}: Gpu, nowMs: number): string | undefined =>
	drain &&
	[
		drain.reason ?? 'no reason given',
		drain.by === undefined ? undefined : `by ${drain.by}`,
		drain.since === undefined ? undefined : `for ${sinceText(drain.since, nowMs)}`,
	]
		.filter((words) => words !== undefined)
		.join(', ');

const limited = (value: number | undefined, limit: number | undefined, unit: string): string | undefined =>
	value === undefined
		? undefined
		: `${withUnit(value, unit)}${limit === undefined ? '' : ` of ${withUnit(limit, unit)}`}`;

const unknownUseText = ({validation_info: words}: Gpu): string | undefined =>
	words?.startsWith('unknown: ') === true ? words : undefined;

function sharedAmount({shares = [], share_capacity_mb: capacity, mig_instances: parts}: Gpu): string {
	if (shares.some(({mig_instance: mig}) => mig !== undefined)) {
		return `${shares.filter(({is_gone: isGone}) => !isGone).length} of ${counted(parts?.length ?? 0, 'MIG instance')}`;
	}

	if (shares.every(({memory_mb: memory}) => memory === undefined)) {
		return counted(shares.length, 'share');
	}

	const asked = sizeText(shares.reduce((sum, {memory_mb: memory = 0}) => sum + memory, 0));
	return capacity === undefined ? asked : `${asked} of ${sizeText(capacity)}`;
}

const facts: ReadonlyArray<readonly [name: string, words: (gpu: Gpu, nowMs: number) => string | undefined]> = [
	['Place', placeText],
	['Owner', (gpu) => gpu.user],
	['Shared out', (gpu) => (gpu.shares === undefined ? undefined : sharedAmount(gpu))],
	['Kind', (gpu) => kinds[gpu.reservation_type ?? '']],
	['Since', (gpu, nowMs) => ago(gpu.start_time, nowMs)],
	['Ends', endText],
	['Heartbeat', heartbeatText],
	['Last released', (gpu, nowMs) => ago(gpu.last_released, nowMs)],
	['Idle', idleTime],
	['Goes back', returnText],
	['Parked', (gpu, nowMs) => (gpu.parked_since === undefined ? undefined : `${ago(gpu.parked_since, nowMs)}, no load`)],
	['Kept until', ({keep_until: time}) => (time === undefined ? undefined : `${dateText(time)}, even if idle`)],
	['Model', modelText],
	['Note', noteWords],
	['Problem', (gpu) => gpu.error],
	['Health', (gpu) => gpu.health?.join('; ')],
	['Drained', drainText],
	['Use', unknownUseText],
	['MIG', (gpu) => gpu.mig_instances && partText(gpu.mig_instances)],
	['Temperature', (gpu) => limited(gpu.temperature, gpu.temperature_limit, ' °C')],
	['Power', (gpu) => limited(gpu.power_w, gpu.power_limit_w, ' W')],
	['Fan', (gpu) => limited(gpu.fan_percent, undefined, ' %')],
	['Clock', (gpu) => limited(gpu.clock_mhz, undefined, ' MHz')],
	['Slowed by', (gpu) => gpu.throttled_by?.join(', ')],
	['UUID', (gpu) => gpu.uuid],
];

function Facts({gpu}: {readonly gpu: Gpu}) {
	const nowMs = useNow();
	return (
		<dl class="facts">
			{facts.map(([name, wordsOf]) => {
				const words = wordsOf(gpu, nowMs) ?? '';
				return words === '' ? undefined : (
					<div key={name} class="fact">
						<dt>{name}</dt>
						<dd>{words}</dd>
					</div>
				);
			})}
		</dl>
	);
}

function Shares({gpu: {gpu_id: gpuId, shares = []}}: {readonly gpu: Gpu}) {
	const nowMs = useNow();
	return shares.length === 0 ? undefined : (
		<ul class="shares">
			{shares.map((share) => (
				<li key={`${share.lease_id} ${share.mig_instance?.uuid}`} data-over={share.is_over ? '' : undefined}>
					<bdi>{share.user}</bdi>
					{` ${sharePart(share, gpuId)}`}
					{share.is_over && share.over_since !== undefined ? ` for ${sinceText(share.over_since, nowMs)}` : undefined}
					{noteWords(share) === undefined ? undefined : <span class="note"> {noteWords(share)}</span>}
				</li>
			))}
		</ul>
	);
}

type DetailsProps = {
	readonly gpu: Gpu;
	readonly utilization: Utilization | undefined;
	/** The address of these details, for a link. Undefined if the page already has this address. */
	readonly address?: string;
};

export default function Details({gpu, utilization, address}: DetailsProps) {
	return (
		<div class="details">
			{address !== undefined && (
				<a class="text-button own-address" href={address}>
					Commands and link →
				</a>
			)}
			{utilization && gpu.node === undefined && <Chart gpu={gpu.gpu_id} utilization={utilization} />}
			<Facts gpu={gpu} />
			<Shares gpu={gpu} />
			<MigParts gpu={gpu} />
			<Processes gpu={gpu} />
		</div>
	);
}
