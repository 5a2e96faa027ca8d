/** What happened, newest first. */
import {keyedList, make, setText} from './dom.page.js';
import {clock, counted, moment} from './words.page.js';

const gpuWords = (gpus) => (gpus.length === 0 ? '' : `${gpus.length === 1 ? 'GPU' : 'GPUs'} ${gpus.join(' ')}`);

const wanted = ({gpus, count}) => (gpus.length > 0 ? gpuWords(gpus) : counted(count ?? 1, 'GPU'));

/** Who, in the middle of a sentence. */
const who = ({user, label}) => (user === undefined ? 'Somebody' : label === undefined ? user : `${user} (${label})`);

const sentences = {
	granted: (event) => `${who(event)} got ${gpuWords(event.gpus)}${event.forced ? ', by force' : ''}`,
	held: (event) => `${gpuWords(event.gpus)} held for ${who(event)}, who waits for more`,
	released: (event) =>
		`${who(event)} released ${gpuWords(event.gpus)}${event.owner === undefined ? '' : ` of ${event.owner}`}`,
	extended: (event) =>
		`${who(event)} extended ${gpuWords(event.gpus)}${event.until_ms === undefined ? '' : ` until ${clock(event.until_ms)}`}`,
	expired: (event) => `The time of ${who(event)} on ${gpuWords(event.gpus)} was over`,
	ended: (event) => `${who(event)} is done with ${gpuWords(event.gpus)}`,
	refused: (event) => `${who(event)} asked for ${wanted(event)} and got nothing`,
	joined: (event) => `${who(event)} waits for ${wanted(event)}`,
	left: (event) => `${who(event)} left the queue`,
	drained: (event) => `${who(event)} drained ${gpuWords(event.gpus)}`,
	undrained: (event) => `${who(event)} put ${gpuWords(event.gpus)} back to use`,
	pool: (event) => `${who(event)} made the pool`,
	unreserved: (event) => `${who(event)} uses ${gpuWords(event.gpus)} without a reservation`,
	squatter: (event) =>
		`${who(event)} uses ${gpuWords(event.gpus)}${event.owner === undefined ? '' : `, reserved by ${event.owner}`}`,
	health: (event) => `The health of ${gpuWords(event.gpus)} changed`,
	notice: () => 'Notice',
};

function eventItem(first) {
	const time = new Date(first.time_ms);
	const more = [first.reason, first.note].filter((words) => words !== undefined).join(' · ');
	const element = make(
		'li',
		{class: 'event', 'data-kind': first.kind},
		make('time', {class: 'event-time', datetime: time.toISOString(), title: moment(time)}, clock(time)),
		make('span', {}, sentences[first.kind]?.(first) ?? first.kind),
		...(more === '' ? [] : [make('span', {class: 'event-more'}, more)]),
	);
	// What happened stays as it is.
	return {element, update() {}};
}

function eventList(container, most) {
	const list = keyedList(container, eventItem);
	const none = make('li', {class: 'quiet'}, 'Nothing has happened yet.');
	return (events) => {
		list.update(events.slice(-most).toReversed(), ({id}) => id);
		if (events.length === 0) {
			container.append(none);
		} else {
			none.remove();
		}
	};
}

const dayForm = new Intl.DateTimeFormat(undefined, {weekday: 'long', month: 'long', day: 'numeric'});

/**
@param recent - The short list beside the GPUs.
@param view - The view with all that are known.
*/
export function createEvents(recent, view) {
	const drawRecent = eventList(recent, 8);
	const title = make('h1', {id: 'events-title', tabindex: '-1'}, 'Events');
	const days = make('div', {class: 'event-days'});
	const none = make('p', {class: 'panel quiet'}, 'Nothing has happened yet.');
	view.append(make('div', {class: 'section-head'}, title), days, none);
	const list = keyedList(days, () => {
		const head = make('h2', {class: 'event-day'});
		const items = make('ol', {class: 'events panel'});
		const draw = eventList(items, Infinity);
		return {
			element: make('section', {}, head, items),
			update({day, events}) {
				setText(head, day);
				draw(events);
			},
		};
	});
	return (events) => {
		drawRecent(events);
		const byDay = Map.groupBy(events, ({time_ms: time}) => dayForm.format(new Date(time)));
		list.update([...byDay].map(([day, found]) => ({day, events: found})).toReversed(), ({day}) => day);
		none.hidden = events.length > 0;
	};
}
