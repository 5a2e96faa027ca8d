import {Component} from 'preact';
import {Cards, mostPlainCards} from '../gpu/card.js';
import {late} from '../late.js';
import type {ViewProps} from '../slots.js';
import type {PageState} from '../state/state.js';
import {RecentEvents} from './event-list.js';
import {Queue} from './queue.js';
import {Summary} from './summary.js';

const Drawer = late(async () => import('../gpu/drawer.js'), 'drawer');
const GpuBrowser = late(async () => import('../gpus/browser.js'), 'gpus');

type PlainGpusProps = Pick<PageState, 'gpus' | 'utilization'>;

type PlainGpusState = {readonly open: ReadonlySet<number>};

class PlainGpus extends Component<PlainGpusProps, PlainGpusState> {
	override state: PlainGpusState = {open: new Set()};

	override render({gpus, utilization}: PlainGpusProps, {open}: PlainGpusState) {
		const areAllOpen = open.size > 0 && gpus.every(({gpu_id: index}) => open.has(index));
		return (
			<>
				<div class="section-head">
					<h2 id="gpus-title">GPUs</h2>
					<a class="text-button" href="#/gpus?filter=">
						Filter
					</a>
					<button
						id="expand-all"
						type="button"
						class="text-button"
						aria-pressed={areAllOpen}
						onClick={() => {
							this.setState({open: new Set(areAllOpen ? [] : gpus.map(({gpu_id: index}) => index))});
						}}
					>
						{areAllOpen ? 'Collapse all' : 'Expand all'}
					</button>
				</div>
				<Cards
					id="cards"
					gpus={gpus}
					utilization={utilization}
					open={open}
					setOpen={(next) => {
						this.setState({open: next});
					}}
				/>
			</>
		);
	}
}

export const Overview = ({state: {about, gpus, queue, events, utilization}, query, rest}: ViewProps) => (
	<>
		<h1 id="overview-title" class="unseen" tabindex={-1}>
			Overview
		</h1>
		<Summary gpus={gpus} queue={queue} isKnown={about !== undefined} />
		<div class="columns">
			<section aria-labelledby="gpus-title">
				{query.size === 0 && gpus.length <= mostPlainCards ? (
					<PlainGpus gpus={gpus} utilization={utilization} />
				) : (
					<GpuBrowser gpus={gpus} utilization={utilization} query={query} />
				)}
			</section>
			<aside aria-label="Queue and events">
				<Queue queue={queue} about={about} />
				<RecentEvents events={events} isKnown={about !== undefined} />
			</aside>
		</div>
		{about && rest !== '' && <Drawer about={about} gpus={gpus} utilization={utilization} index={rest} />}
	</>
);
