/** The first view: figures, GPUs, the queue, and what happened last. */
import {useState} from 'preact/hooks';
import {gpuButtons, GpuCard, toggled} from '../gpu/card.js';
import type {PageState} from '../state/state.js';
import {RecentEvents} from './event-list.js';
import {Queue} from './queue.js';
import {Summary} from './summary.js';

function Gpus({gpus, utilization}: Pick<PageState, 'gpus' | 'utilization'>) {
	const [open, setOpen] = useState<ReadonlySet<number>>(new Set());
	const [areAllOpen, setAllOpen] = useState(false);
	return (
		<section class="main-column" aria-labelledby="gpus-title">
			<div class="section-head">
				<h2 id="gpus-title">GPUs</h2>
				<button
					id="expand-all"
					type="button"
					class="text-button"
					aria-pressed={areAllOpen}
					onClick={() => {
						setAllOpen(!areAllOpen);
						setOpen(new Set(areAllOpen ? [] : gpus.map(({gpu_id: index}) => index)));
					}}
				>
					{areAllOpen ? 'Collapse all' : 'Expand all'}
				</button>
			</div>
			<ul id="cards" class="cards" data-arrows={gpuButtons}>
				{gpus.map((gpu) => (
					<GpuCard
						key={gpu.gpu_id}
						gpu={gpu}
						utilization={utilization}
						isOpen={open.has(gpu.gpu_id)}
						toggle={() => {
							setOpen(toggled(open, gpu.gpu_id));
						}}
						prefix="gpu"
					/>
				))}
			</ul>
		</section>
	);
}

export const Overview = ({state: {about, gpus, queue, events, utilization}}: {readonly state: PageState}) => (
	<>
		<h1 id="overview-title" class="unseen" tabindex={-1}>
			GPUs
		</h1>
		<Summary gpus={gpus} queue={queue} isKnown={about !== undefined} />
		<div class="columns">
			<Gpus gpus={gpus} utilization={utilization} />
			<aside class="side-column" aria-label="Queue and events">
				<Queue queue={queue} isKnown={about !== undefined} />
				<RecentEvents events={events} isKnown={about !== undefined} />
			</aside>
		</div>
	</>
);
