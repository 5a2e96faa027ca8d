/** All boxes at a glance, and each of them in full. This one is live; the others are asked by the server while they are looked at. */
import {gpuCard} from './card.page.js';
import {keyedList, make, setAttribute, setText} from './dom.page.js';
import {counted, duration, stateName} from './words.page.js';

/** Whoever is asked regularly is not said to be old. */
const freshMs = 30_000;

const modelsOf = (gpus) => {
	const counts = new Map();
	for (const {gpu_model: model} of gpus) {
		if (model !== undefined) {
			counts.set(model, (counts.get(model) ?? 0) + 1);
		}
	}

	return [...counts].map(([model, count]) => `${count} × ${model}`).join(', ');
};

/** How old what is shown of a host is; undefined where there is nothing, or it is live. */
const ageOf = ({atMs} = {}) => (atMs === undefined ? undefined : Date.now() - atMs);

const availableWords = (gpus) =>
	`${gpus.filter(({status}) => status === 'AVAILABLE').length} of ${counted(gpus.length, 'GPU')} available`;

function hostCard({name}) {
	const title = make('a', {class: 'host-name', href: `#/hosts/${encodeURIComponent(name)}`}, name);
	const words = make('span', {class: 'time'});
	const age = make('span', {class: 'time host-age'});
	const models = make('span', {class: 'model'});
	const squares = make('span', {class: 'squares', role: 'img'});
	const element = make(
		'li',
		{class: 'card host-card', 'data-host': name},
		make('span', {class: 'card-title'}, title),
		words,
		squares,
		models,
		age,
	);
	let host;
	const tick = () => {
		const ageMs = ageOf(host);
		const isOld = ageMs !== undefined && (ageMs > freshMs || host.error !== undefined);
		setAttribute(element, 'data-old', isOld);
		setText(age, isOld ? `as it was ${duration(ageMs)} ago` : '');
	};

	return {
		element,
		tick,
		update({known}) {
			host = known;
			const gpus = known?.gpus ?? [];
			setAttribute(element, 'data-state', known?.error === undefined ? undefined : 'ERROR');
			setText(words, known === undefined ? 'Asking…' : (known.error ?? availableWords(gpus)));
			setText(models, modelsOf(gpus));
			setAttribute(
				squares,
				'aria-label',
				gpus.map(({gpu_id: id, status}) => `GPU ${id} ${stateName(status)}`).join(', ') || 'No GPUs are known',
			);
			squares.replaceChildren(...gpus.map(({status}) => make('span', {class: 'square', 'data-state': status})));
			tick();
		},
	};
}

/** Whose error it is stands above it. */
const withoutName = (error, name) => (error?.startsWith(`${name}: `) ? error.slice(name.length + 2) : error);

/** What the server tells of a host: of one that fails now, what it said before. */
function knownOf({name, gpus, error, age_ms: ageMs, before}) {
	return before === undefined
		? {error: withoutName(error, name), gpus, atMs: gpus && Date.now() - ageMs}
		: {...knownOf(before), error: withoutName(error, name)};
}

/**
@param changed - Called when it is shown or hidden.
*/
export function createHosts(container, {nowMs, changed}) {
	let names = [];
	let chosen = '';
	let isShown = false;
	const hosts = new Map();
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

	function problemWords(known) {
		if (names.length > 0 && !names.includes(chosen)) {
			return 'There is no such host here.';
		}

		return known === undefined ? undefined : known.error;
	}

	function tick() {
		const ageMs = chosen === '' ? undefined : ageOf(hosts.get(chosen));
		setText(age, ageMs === undefined ? '' : `as it was ${duration(ageMs)} ago`);
		for (const {tick: tickOne} of [...cards.parts.values(), ...gpus.parts.values()]) {
			tickOne();
		}
	}

	function draw() {
		if (!isShown) {
			return;
		}

		const isOne = chosen !== '';
		const known = hosts.get(chosen);
		const words = isOne ? problemWords(known) : undefined;
		setText(title, isOne ? chosen : 'Hosts');
		back.hidden = !isOne;
		overview.hidden = isOne;
		drill.hidden = !isOne;
		hint.hidden = isOne || names.length > 1;
		problem.hidden = words === undefined;
		setText(problem, words);
		setAttribute(drill, 'data-old', words !== undefined);
		cards.update(isOne ? [] : names.map((name) => ({name, known: hosts.get(name)})), ({name}) => name);
		gpus.update(isOne ? (known?.gpus ?? []) : [], ({gpu_id: id}) => id);
		tick();
	}

	return {
		isShown: () => isShown,
		tick() {
			if (isShown) {
				tick();
			}
		},
		show(rest) {
			if (rest !== chosen) {
				// GPUs of the same number on another host are other GPUs.
				gpus.update([], undefined);
			}

			chosen = rest;
			isShown = true;
			draw();
			changed();
		},
		hide() {
			isShown = false;
			changed();
		},
		/** This host as the page knows it anyway, and the names of all, this one first. */
		setLocal(all, own) {
			names = all;
			hosts.set(names[0], {gpus: own});
			draw();
		},
		/** Answers of other hosts. */
		take(told) {
			for (const host of told) {
				hosts.set(host.name, knownOf(host));
			}

			draw();
		},
	};
}
