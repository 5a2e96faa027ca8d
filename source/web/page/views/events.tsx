/** What happened, newest first. */
import type {PoolEvent} from '../fields.js';
import {SectionHead} from '../widgets.js';
import {dateWords, timeOfDay} from '../words.js';

const EventItem = ({event: {time_ms: time, kind, words, note}}: {readonly event: PoolEvent}) => (
	<li class="event" data-kind={kind}>
		<time class="event-time" dateTime={new Date(time).toISOString()} title={dateWords(time)}>
			{timeOfDay(time)}
		</time>
		<span class="event-words">{words}</span>
		{note !== undefined && <span class="event-more">{note}</span>}
	</li>
);

type EventsProps = {readonly events: readonly PoolEvent[]};

const EventItems = ({events}: EventsProps) =>
	events.toReversed().map((event) => <EventItem key={event.id} event={event} />);

const mostRecent = 8;

/** The short list beside the GPUs. */
export const RecentEvents = ({events}: EventsProps) => (
	<section aria-labelledby="recent-title">
		<div class="section-head">
			<h2 id="recent-title">Recent events</h2>
			<a class="text-button" href="#/events">
				All
			</a>
		</div>
		<ol id="recent" class="events panel">
			<EventItems events={events.slice(-mostRecent)} />
			{events.length === 0 && <li class="quiet">Nothing has happened yet.</li>}
		</ol>
	</section>
);

const dayForm = new Intl.DateTimeFormat(undefined, {weekday: 'long', month: 'long', day: 'numeric'});

/** All that are known, by day. */
export function Events({events}: EventsProps) {
	const byDay = Map.groupBy(events, ({time_ms: time}) => dayForm.format(new Date(time)));
	return (
		<>
			<SectionHead>
				<h1 id="events-title" tabindex={-1}>
					Events
				</h1>
			</SectionHead>
			<div class="event-days">
				{[...byDay].toReversed().map(([day, found]) => (
					<section key={day}>
						<h2 class="event-day">{day}</h2>
						<ol class="events panel">
							<EventItems events={found} />
						</ol>
					</section>
				))}
			</div>
			{events.length === 0 && <p class="panel quiet">Nothing has happened yet.</p>}
		</>
	);
}
