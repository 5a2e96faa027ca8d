/** One GPU: a card that opens. */
import type {Gpu} from '../fields.js';
import {useNow} from '../state/store.js';
import {emptySeries, type Utilization} from '../state/utilization.js';
import {Meter} from '../widgets.js';
import {gigabytes, percentOf, stateName, timeWords, unknown, withUnit} from '../words.js';
import {Details} from './details.js';
import {Spark} from './spark.js';

const ownerWords = ({user, status}: Gpu): string =>
	user ?? (status === 'AVAILABLE' ? 'Free' : status === 'ERROR' ? 'Out of use' : 'Unknown user');

const noteWords = (gpu: Gpu): string | undefined =>
	(gpu.status === 'ERROR' ? gpu.error : undefined) ?? gpu.note ?? gpu.model_info?.model ?? gpu.processes?.[0]?.command;

const problemWords = ({drain, health, squatters}: Gpu): string =>
	[drain && 'draining', health && 'unhealthy', squatters && 'others use it too'].filter(Boolean).join(' · ');

const heatWords = ({temperature, power_w: power}: Gpu): string =>
	[
		temperature === undefined ? undefined : withUnit(temperature, ' °C'),
		power === undefined ? undefined : withUnit(power, ' W'),
	]
		.filter((words) => words !== undefined)
		.join(' · ');

const memoryWords = ({memory_used_mb: used, memory_total_mb: total}: Gpu): string =>
	total === undefined
		? gigabytes(used)
		: `${used === undefined ? unknown : (used / 1024).toFixed(1)} / ${gigabytes(total)}`;

const GpuTime = ({gpu}: {readonly gpu: Gpu}) => <span class="time">{timeWords(gpu, useNow())}</span>;

export type GpuCardProps = {
	readonly gpu: Gpu;
	/** Undefined for a GPU of another host, whose history is not known. */
	readonly utilization?: Utilization;
	readonly isOpen: boolean;
	readonly toggle: () => void;
	/** The beginning of its id, which differs between this host and another. */
	readonly prefix: string;
};

export function GpuCard({gpu, utilization, isOpen, toggle, prefix}: GpuCardProps) {
	const id = `${prefix}-${gpu.gpu_id}-details`;
	return (
		<li class="card" data-gpu={gpu.gpu_id} data-state={gpu.status} data-open={isOpen ? '' : undefined}>
			<button class="card-head" type="button" aria-expanded={isOpen} aria-controls={id} onClick={toggle}>
				<span class="card-title">
					<span class="index">{`GPU ${gpu.gpu_id}`}</span>
					<span class="flags">{problemWords(gpu)}</span>
					<span class="state">{gpu.held_for_queue === undefined ? stateName(gpu.status) : 'Held'}</span>
				</span>
				<span class="who">
					<span class="owner">{ownerWords(gpu)}</span>
					<GpuTime gpu={gpu} />
				</span>
				<span class="note">{noteWords(gpu)}</span>
				<span class="meters">
					<Meter label="Use" percent={gpu.utilization} words={withUnit(gpu.utilization, ' %')} />
					<Meter label="Memory" percent={percentOf(gpu.memory_used_mb, gpu.memory_total_mb)} words={memoryWords(gpu)} />
				</span>
				{utilization && <Spark series={utilization.gpus.get(gpu.gpu_id) ?? emptySeries} />}
				<span class="card-foot">
					<span class="model">{gpu.gpu_model}</span>
					<span class="heat">{heatWords(gpu)}</span>
				</span>
			</button>
			<div class="card-body" id={id} hidden={!isOpen}>
				{isOpen && <Details gpu={gpu} utilization={utilization} />}
			</div>
		</li>
	);
}

/** The open cards after one of them was pressed. */
export function toggled(open: ReadonlySet<number>, gpu: number): ReadonlySet<number> {
	return open.symmetricDifference(new Set([gpu]));
}
