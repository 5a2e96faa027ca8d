/** What happened, newest first. */
import {keyedList, make, setText} from './dom.page.js';
import {clock, moment} from './words.page.js';

function eventItem(first) {
	const time = new Date(first.time_ms);
	const element = make(
		'li',
		{class: 'event', 'data-kind': first.kind},
		make('time', {class: 'event-time', datetime: time.toISOString(), title: moment(time)}, clock(time)),
		make('span', {class: 'event-words'}, first.words),
		...(first.note === undefined ? [] : [make('span', {class: 'event-more'}, first.note)]),
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
