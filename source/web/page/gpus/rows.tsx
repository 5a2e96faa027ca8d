import type {Gpu} from '../fields.js';
import {StatePill, noteText} from '../gpu/card.js';
import {route} from '../router.js';
import {addressOf} from '../shared/address.js';
import {useNow} from '../shared/hooks.js';
import {Bar} from '../widgets.js';
import {idleText, joined, percentOf, personOf, timeText, withUnit} from '../text.js';

type MeasureProps = {readonly name: string; readonly percent: number | undefined};

const Measure = ({name, percent}: MeasureProps) => (
	<span class="row-meter" title={name}>
		<span class="row-meter-name">{name}</span>
		<Bar percent={percent} />
		<span class="row-meter-value">{withUnit(percent, ' %')}</span>
	</span>
);

function Row({gpu}: {readonly gpu: Gpu}) {
	const nowMs = useNow();
	const note = noteText(gpu);
	return (
		<li class="row" data-gpu={gpu.gpu_id} data-state={gpu.state}>
			<a class="row-index" href={addressOf({...route.get(), view: 'overview', rest: String(gpu.gpu_id)})}>
				{`GPU ${gpu.gpu_id}`}
			</a>
			<StatePill gpu={gpu} isShort />
			<span class="row-who" title={gpu.user}>
				{gpu.user === undefined ? '' : personOf(gpu.user).name}
			</span>
			<span class="row-more" title={note}>
				{joined(timeText(gpu, nowMs), idleText(gpu, nowMs), note)}
			</span>
			<Measure name="Use" percent={gpu.utilization} />
			<Measure name="Memory" percent={percentOf(gpu.memory_used_mb, gpu.memory_total_mb)} />
		</li>
	);
}

export const Rows = ({gpus}: {readonly gpus: readonly Gpu[]}) => (
	<ul class="rows panel" data-arrows=".row-index">
		{gpus.map((gpu) => (
			<Row key={gpu.gpu_id} gpu={gpu} />
		))}
	</ul>
);
