/** Puts the page together: the stream feeds the state, the state is drawn. */
import {createAnnouncer, createBadges, createBanners} from './banners.page.js';
import {createEvents} from './events.page.js';
import {keyedList, make, setAttribute, setText} from './dom.page.js';
import {createHosts} from './hosts.page.js';
import {listen} from './live.page.js';
import {createCards, createSummary, waiterItem} from './overview.page.js';
import {createReport} from './report.page.js';
import {startRouter} from './router.page.js';
import {startThemes} from './themes.page.js';
import {createUse} from './use.page.js';
import {duration, sinceWords, stateName} from './words.page.js';

const byId = (id) => document.querySelector(`#${id}`);

const state = {
	about: {host: '', hosts: []},
	store: undefined,
	scan: undefined,
	warnings: [],
	queue: [],
	events: [],
	gpus: new Map(),
	link: {kind: 'connecting'},
};
/** What to add to this machine's clock for the server's. */
let aheadMs = 0;
let heardMs;
const nowMs = () => Date.now() + aheadMs;

const use = createUse((isNew) => {
	cards.drawUse(isNew);
});
const cards = createCards({list: byId('cards'), expandAll: byId('expand-all'), use, nowMs});
const drawSummary = createSummary(byId('summary'));
const drawBanners = createBanners(byId('banners'));
const drawBadges = createBadges(byId('badges'));
const announce = createAnnouncer(byId('announcer'));
const queueList = byId('queue');
const queue = keyedList(queueList, waiterItem({duration, sinceWords, nowMs}));
const nobody = make('li', {class: 'quiet'}, 'Nobody waits.');
const report = createReport(byId('view-report'));
let followHosts = () => undefined;
const hosts = createHosts(byId('view-hosts'), {
	nowMs,
	changed() {
		followHosts();
	},
});
const drawEvents = createEvents(byId('recent'), byId('view-events'));
startRouter({report, hosts});
startThemes(byId('theme'));

const allGpus = () =>
	state.gpus
		.values()
		.toArray()
		.toSorted((a, b) => a.gpu_id - b.gpu_id);

function drawPill() {
	const pill = byId('pill');
	const {link, store, scan} = state;
	const kind = link.kind === 'live' ? (store?.live && scan?.live ? 'live' : 'stale') : link.kind;
	const sinceMs = link.sinceMs ?? store?.since_ms ?? scan?.since_ms;
	const words = {
		live: 'Live',
		connecting: 'Connecting',
		lost: 'Reconnecting',
		stale: sinceMs === undefined ? 'Starting' : `Stale ${duration(nowMs() - sinceMs)}`,
	};
	setAttribute(pill, 'data-kind', kind);
	setText(byId('pill-text'), words[kind]);
	setAttribute(document.body, 'data-stale', kind === 'stale' || kind === 'lost');
}

function tick() {
	cards.tick();
	for (const waiter of queue.parts.values()) {
		waiter.tick();
	}

	hosts.tick();
	drawBanners(state, nowMs());
	drawPill();
}

function draw() {
	const gpus = allGpus();
	const {about} = state;
	setText(byId('host'), about.host);
	document.title = `${gpus.filter(({status}) => status === 'AVAILABLE').length} free · ${about.host} · canhazgpu`;
	setText(
		byId('foot'),
		[`canhazgpu ${about.version ?? ''}`, about.location, about.driver && `driver ${about.driver}`]
			.filter(Boolean)
			.join(' · '),
	);
	drawBadges(about);
	drawSummary(gpus, state.queue);
	cards.update(gpus);
	queue.update(state.queue, ({id}) => id);
	setText(byId('queue-count'), state.queue.length === 0 ? '' : state.queue.length);
	if (state.queue.length === 0) {
		queueList.append(nobody);
	} else {
		nobody.remove();
	}

	hosts.setLocal(about.hosts, gpus);
	tick();
}

/** What somebody who cannot see the cards would want to hear. */
function changesIn(gpus) {
	return gpus.flatMap((gpu) => {
		const before = state.gpus.get(gpu.gpu_id);
		return before === undefined || (before.status === gpu.status && before.user === gpu.user)
			? []
			: [`GPU ${gpu.gpu_id}: ${stateName(gpu.status)}${gpu.user === undefined ? '' : `, ${gpu.user}`}`];
	});
}

/** Those that are new are sent alone. */
const mostEvents = 200;

function take({isWhole, now_ms: serverMs, gpu_count: gpuCount, gpus, events, ...parts}) {
	heardMs = Date.now();
	aheadMs = serverMs - heardMs;
	const changes = changesIn(gpus);
	if (parts.queue !== undefined && parts.queue.length !== state.queue.length && !isWhole) {
		changes.push(parts.queue.length === 0 ? 'Nobody waits any more' : `${parts.queue.length} in the queue`);
	}

	announce(changes);
	const isLeaseMoved = changes.length > 0;
	Object.assign(state, parts);
	if (events !== undefined) {
		state.events = isWhole ? events : [...state.events, ...events].slice(-mostEvents);
		drawEvents(state.events);
	}

	for (const gpu of gpus) {
		state.gpus.set(gpu.gpu_id, gpu);
	}

	for (const index of state.gpus.keys()) {
		if (index >= gpuCount) {
			state.gpus.delete(index);
		}
	}

	use.add(allGpus(), serverMs);
	draw();
	if (isWhole) {
		// After a pause there are values that were missed.
		use.begin().catch(() => undefined);
	}

	if (isWhole || isLeaseMoved) {
		report.refresh();
	}
}

function hear(kind, data) {
	if (kind === 'hosts') {
		hosts.take(data.hosts);
	} else {
		take({...data, isWhole: kind === 'state'});
	}
}

function turn(link) {
	const wasLost = state.link.kind === 'lost';
	state.link = link.kind === 'lost' ? {...link, sinceMs: (heardMs ?? Date.now()) + aheadMs} : link;
	if (link.kind === 'lost' ? !wasLost : wasLost) {
		announce([link.kind === 'lost' ? 'The connection to the server is lost' : 'The connection is back']);
	}

	tick();
}

followHosts = listen(hear, turn, hosts.isShown);
setInterval(tick, 1000);
