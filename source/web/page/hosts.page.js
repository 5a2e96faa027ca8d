/** All boxes at a glance, and each of them in full. */
import {gpuCard} from './card.page.js';
import {keyedList, make, setAttribute, setText} from './dom.page.js';
import {counted, duration, stateName} from './words.page.js';

/** Other hosts tell nothing by themselves: while they are looked at they are asked now and then. */
const askAgainMs = 15_000;

const modelsOf = (gpus) => {
	const counts = new Map();
	for (const {gpu_model: model} of gpus) {
		if (model !== undefined) {
			counts.set(model, (counts.get(model) ?? 0) + 1);
		}
	}

	return [...counts].map(([model, count]) => `${count} × ${model}`).join(', ');
};

function hostCard({name}) {
	const title = make('a', {class: 'host-name', href: `#/hosts/${encodeURIComponent(name)}`}, name);
	const words = make('span', {class: 'time'});
	const models = make('span', {class: 'model'});
	const squares = make('span', {class: 'squares', role: 'img'});
	const element = make(
		'li',
		{class: 'card host-card'},
		make('span', {class: 'card-title'}, title),
		words,
		squares,
		models,
	);
	return {
		element,
		update({answer}) {
			const problem = answer?.error;
			const gpus = Array.isArray(answer) ? answer : [];
			setAttribute(element, 'data-state', problem === undefined ? undefined : 'ERROR');
			const free = gpus.filter(({status}) => status === 'AVAILABLE').length;
			setText(
				words,
				answer === undefined ? 'Asking…' : (problem ?? `${free} of ${counted(gpus.length, 'GPU')} available`),
			);
			setText(models, modelsOf(gpus));
			setAttribute(
				squares,
				'aria-label',
				gpus.map(({gpu_id: id, status}) => `GPU ${id} ${stateName(status)}`).join(', ') || 'No GPUs are known',
			);
			squares.replaceChildren(...gpus.map(({status}) => make('span', {class: 'square', 'data-state': status})));
		},
	};
}

export function createHosts(container, nowMs) {
	let names = [];
	let chosen = '';
	let isShown = false;
	let timer;
	const answers = new Map();
	const times = new Map();
	const title = make('h1', {id: 'hosts-title', tabindex: '-1'}, 'Hosts');
	const age = make('span', {class: 'time'});
	const back = make('a', {class: 'text-button', href: '#/hosts'}, '← All hosts');
	const overview = make('ul', {class: 'cards'});
	const drill = make('ul', {class: 'cards'});
	const problem = make('p', {class: 'banner', 'data-kind': 'store'});
	const hint = make('p', {class: 'quiet'}, 'Name other boxes in the setting remote_hosts to see them here.');
	const cards = keyedList(overview, hostCard);
	const gpus = keyedList(drill, (gpu) => gpuCard(gpu, {nowMs, prefix: 'host'}));
	container.append(make('div', {class: 'section-head'}, title, back, age), problem, overview, drill, hint);

	function draw() {
		const isOne = chosen !== '';
		const answer = answers.get(chosen);
		setText(title, isOne ? chosen : 'Hosts');
		back.hidden = !isOne;
		overview.hidden = isOne;
		drill.hidden = !isOne;
		hint.hidden = isOne || names.length > 1;
		const words = isOne && !names.includes(chosen) && names.length > 0 ? 'There is no such host here.' : answer?.error;
		problem.hidden = words === undefined;
		setText(problem, words);
		cards.update(
			names.map((name) => ({name, answer: answers.get(name)})),
			({name}) => name,
		);
		gpus.update(isOne && Array.isArray(answer) ? answer : [], ({gpu_id: id}) => id);
		drawAge();
	}

	function drawAge() {
		const oldest = Math.min(...(chosen === '' ? names : [chosen]).map((name) => times.get(name) ?? Infinity));
		setText(age, Number.isFinite(oldest) ? `asked ${duration(Date.now() - oldest)} ago` : '');
	}

	async function ask(name) {
		try {
			const answer = await fetch(`/api/hosts/status?host=${encodeURIComponent(name)}`);
			answers.set(name, await answer.json());
			times.set(name, Date.now());
		} catch {
			// The page's own server is away, and the page says so; the last answers stay, with their age.
		}

		if (isShown) {
			draw();
		}
	}

	async function askAll() {
		clearTimeout(timer);
		draw();
		// Each is drawn as it answers: a dead one delays nobody.
		await Promise.all((chosen === '' ? names : [chosen]).map(async (name) => ask(name)));
		clearTimeout(timer);
		if (isShown) {
			timer = setTimeout(askAll, askAgainMs);
		}
	}

	setInterval(() => {
		if (isShown) {
			drawAge();
		}
	}, 1000);
	return {
		show(rest) {
			chosen = rest;
			isShown = true;
			void askAll();
		},
		hide() {
			isShown = false;
			clearTimeout(timer);
		},
		setNames(next) {
			if (next.join('\n') === names.join('\n')) {
				return;
			}

			names = next;
			if (isShown) {
				void askAll();
			}
		},
	};
}
