/** The first view: figures, GPUs, the line. */
import {gpuCard} from './card.page.js';
import {keyedList, make, setAttribute, setShare, setText} from './dom.page.js';
import {counted, unknown} from './words.page.js';

const states = [
	['AVAILABLE', 'Available'],
	['IN_USE', 'In use'],
	['UNRESERVED', 'Unreserved'],
	['ERROR', 'Error'],
];

const mean = (values) =>
	values.length === 0 ? undefined : values.reduce((sum, value) => sum + value, 0) / values.length;

const known = (values) => values.filter((value) => value !== undefined);

export function createSummary(container) {
	const tile = (name, state) => {
		const value = make('dd', {class: 'tile-value'});
		const more = make('dd', {class: 'tile-more'});
		container.append(
			make('dl', {class: 'tile', 'data-state': state}, make('dt', {class: 'tile-name'}, name), value, more),
		);
		return (words, remark = '') => {
			setText(value, words);
			setText(more, remark);
		};
	};

	const counts = states.map(([status, name]) => [status, tile(name, status)]);
	const waiting = tile('Waiting');
	const use = tile('Mean use');
	const memory = tile('Memory');
	const power = tile('Power');
	return (gpus, queue) => {
		for (const [status, set] of counts) {
			const count = gpus.filter((gpu) => gpu.status === status).length;
			set(count, status === 'AVAILABLE' ? `of ${gpus.length}` : '');
			if (status === 'ERROR' || status === 'UNRESERVED') {
				setAttribute(container.children[states.findIndex(([name]) => name === status)], 'data-quiet', count === 0);
			}
		}

		waiting(
			queue.length,
			queue.length === 0
				? ''
				: `for ${counted(
						queue.reduce((sum, {requested_count: count}) => sum + count, 0),
						'GPU',
					)}`,
		);
		const meanUse = mean(known(gpus.map(({utilization}) => utilization)));
		use(meanUse === undefined ? unknown : `${Math.round(meanUse)} %`);
		const used = known(gpus.map(({memory_used_mb: amount}) => amount)).reduce((sum, amount) => sum + amount, 0);
		const total = known(gpus.map(({memory_total_mb: amount}) => amount)).reduce((sum, amount) => sum + amount, 0);
		memory(
			total === 0 ? unknown : `${Math.round(used / 1024)} GB`,
			total === 0 ? '' : `of ${Math.round(total / 1024)}`,
		);
		const watts = known(gpus.map(({power_w: amount}) => amount));
		const sum = watts.reduce((all, amount) => all + amount, 0);
		power(watts.length === 0 ? unknown : sum >= 1000 ? `${(sum / 1000).toFixed(1)} kW` : `${Math.round(sum)} W`);
	};
}

const wanted = ({requested_ids: ids, requested_count: count}) =>
	ids.length === 0 ? counted(count, 'GPU') : `${ids.length === 1 ? 'GPU' : 'GPUs'} ${ids.join(' ')}`;

/** One who waits. */
export function waiterItem({duration, sinceWords, nowMs}) {
	return (first) => {
		const position = make('span', {class: 'position'});
		const user = make('span', {class: 'owner'});
		const wants = make('span', {class: 'wants'});
		const note = make('span', {class: 'note'});
		const time = make('span', {class: 'time'});
		const bar = make('span', {class: 'meter-bar', 'aria-hidden': 'true'}, make('span', {class: 'meter-fill'}));
		let waiter = first;
		const tick = () => {
			const {served_at: servedAt, enqueue_time: since, impossible} = waiter;
			// A time that is over: what is free is not fit to be handed out, or others use it.
			const leftMs = servedAt === undefined ? undefined : Date.parse(servedAt) - nowMs();
			const when = impossible
				? 'never: not in this pool'
				: leftMs === undefined
					? 'when a job ends'
					: leftMs < 1000
						? 'as soon as one is free'
						: `in about ${duration(leftMs)}`;
			setText(time, `waited ${sinceWords(since, nowMs())} · ${when}`);
		};

		return {
			element: make(
				'li',
				{class: 'waiter'},
				position,
				make('span', {class: 'waiter-body'}, make('span', {class: 'who'}, user, wants), bar, time, note),
			),
			tick,
			update(next) {
				waiter = next;
				setText(position, waiter.position);
				setText(user, waiter.actual_user === undefined ? waiter.user : `${waiter.actual_user} (${waiter.user})`);
				setText(wants, `${waiter.allocated_count} of ${wanted(waiter)}`);
				setShare(bar, (waiter.allocated_count / Math.max(1, waiter.requested_count)) * 100);
				setText(note, waiter.note ?? '');
				tick();
			},
		};
	};
}

/** The cards, and the button that opens or closes all of them. */
export function createCards({list, expandAll, use, nowMs}) {
	const cards = keyedList(list, (gpu) => gpuCard(gpu, {use, nowMs}));
	let areAllOpen = false;
	expandAll.addEventListener('click', () => {
		areAllOpen = !areAllOpen;
		setAttribute(expandAll, 'aria-pressed', String(areAllOpen));
		setText(expandAll, areAllOpen ? 'Collapse all' : 'Expand all');
		for (const card of cards.parts.values()) {
			if (card.isOpen() !== areAllOpen) {
				card.setOpen(areAllOpen);
			}
		}
	});
	return {
		update(gpus) {
			cards.update(gpus, (gpu) => gpu.gpu_id);
		},
		tick() {
			for (const card of cards.parts.values()) {
				card.tick();
			}
		},
		drawUse(isNew) {
			for (const card of cards.parts.values()) {
				card.drawUse(isNew);
			}
		},
	};
}
