/** One GPU: a card that opens. */
import {details} from './details.page.js';
import {make, setAttribute, setShare, setText} from './dom.page.js';
import {spark} from './spark.page.js';
import {gigabytes, percentOf, stateName, timeWords, unknown, withUnit} from './words.page.js';

const levelOf = (percent) => (percent >= 95 ? 'full' : percent >= 70 ? 'high' : 'normal');

function meter(label) {
	const value = make('span', {class: 'meter-value'});
	const bar = make('span', {class: 'meter-bar', 'aria-hidden': 'true'}, make('span', {class: 'meter-fill'}));
	const element = make('span', {class: 'meter'}, make('span', {class: 'meter-label'}, label), bar, value);
	return {
		element,
		update(percent, words) {
			setText(value, words);
			setShare(bar, percent);
			setAttribute(bar, 'data-level', percent === undefined ? 'unknown' : levelOf(percent));
		},
	};
}

const problemsOf = (gpu) => [
	...(gpu.drain === undefined ? [] : ['draining']),
	...(gpu.health === undefined ? [] : ['unhealthy']),
	...(gpu.squatters === undefined ? [] : ['others use it too']),
];

/**
@param use - Gives the series of this GPU's use.
*/
export function gpuCard(first, {use, nowMs, prefix = 'gpu'}) {
	const id = `${prefix}-${first.gpu_id}-details`;
	const state = make('span', {class: 'state'});
	const owner = make('span', {class: 'owner'});
	const time = make('span', {class: 'time'});
	const note = make('span', {class: 'note'});
	const flags = make('span', {class: 'flags'});
	const model = make('span', {class: 'model'});
	const heat = make('span', {class: 'heat'});
	const utilization = meter('Use');
	const memory = meter('Memory');
	const line = use === undefined ? undefined : spark();
	const body = make('div', {class: 'card-body', id, hidden: true});
	const button = make(
		'button',
		{class: 'card-head', type: 'button', 'aria-expanded': 'false', 'aria-controls': id},
		make('span', {class: 'card-title'}, make('span', {class: 'index'}, `GPU ${first.gpu_id}`), flags, state),
		make('span', {class: 'who'}, owner, time),
		note,
		make('span', {class: 'meters'}, utilization.element, memory.element),
		...(line === undefined ? [] : [line.element]),
		make('span', {class: 'card-foot'}, model, heat),
	);
	const element = make('li', {class: 'card', 'data-gpu': first.gpu_id}, button, body);
	let gpu = first;
	let open;

	function setOpen(isOpen) {
		setAttribute(button, 'aria-expanded', String(isOpen));
		setAttribute(element, 'data-open', isOpen);
		body.hidden = !isOpen;
		if (isOpen && open === undefined) {
			open = details(gpu, {use, nowMs});
			body.append(open.element);
		} else if (!isOpen) {
			open?.end();
			open?.element.remove();
			open = undefined;
		}
	}

	button.addEventListener('click', () => {
		setOpen(open === undefined);
	});

	function tick() {
		setText(time, timeWords(gpu, nowMs()));
		open?.tick();
	}

	return {
		element,
		setOpen,
		isOpen: () => open !== undefined,
		tick,
		/** Values of use arrived: one more each, or, when they are new, all of them. */
		drawUse(isNew) {
			line?.update(use.series(gpu.gpu_id));
			open?.drawUse(isNew);
		},
		end() {
			open?.end();
		},
		update(next) {
			gpu = next;
			setAttribute(element, 'data-state', gpu.status);
			setText(state, gpu.held_for_queue === undefined ? stateName(gpu.status) : 'Held');
			setText(
				owner,
				gpu.user ?? (gpu.status === 'AVAILABLE' ? 'Free' : gpu.status === 'ERROR' ? 'Out of use' : 'Unknown user'),
			);
			setText(
				note,
				(gpu.status === 'ERROR' ? gpu.error : undefined) ??
					gpu.note ??
					gpu.model_info?.model ??
					gpu.processes?.[0]?.command ??
					'',
			);
			setText(flags, problemsOf(gpu).join(' · '));
			setText(model, gpu.gpu_model ?? '');
			setText(
				heat,
				[
					gpu.temperature === undefined ? undefined : `${Math.round(gpu.temperature)} °C`,
					gpu.power_w === undefined ? undefined : `${Math.round(gpu.power_w)} W`,
				]
					.filter((words) => words !== undefined)
					.join(' · '),
			);
			utilization.update(gpu.utilization, withUnit(gpu.utilization, ' %'));
			memory.update(
				percentOf(gpu.memory_used_mb, gpu.memory_total_mb),
				gpu.memory_total_mb === undefined
					? gigabytes(gpu.memory_used_mb)
					: `${gpu.memory_used_mb === undefined ? unknown : (gpu.memory_used_mb / 1024).toFixed(1)} / ${gigabytes(gpu.memory_total_mb)}`,
			);
			open?.update(gpu);
			tick();
		},
	};
}
