import type {PoolEvent} from '../fields.js';
import {dateText, timeOfDay, unknown} from '../text.js';

const EventItem = ({event: {time_ms: time, kind, words, note}}: {readonly event: PoolEvent}) => (
	<li class="event" data-kind={kind}>
		<time dateTime={new Date(time).toISOString()} title={dateText(time)}>
			{timeOfDay(time)}
		</time>
		<span>{words}</span>
		{note !== undefined && <span>{note}</span>}
	</li>
);

type EventsProps = {readonly events: readonly PoolEvent[]};

export const EventItems = ({events}: EventsProps) =>
	events.toReversed().map((event) => <EventItem key={event.id} event={event} />);

const mostRecent = 8;

export const RecentEvents = ({events, isKnown}: EventsProps & {readonly isKnown: boolean}) => (
	<section aria-labelledby="recent-title">
		<div class="section-head">
			<h2 id="recent-title">Recent events</h2>
			<a class="text-button" href="#/events">
				All
			</a>
		</div>
		<ol id="recent" class="events panel">
			<EventItems events={events.slice(-mostRecent)} />
			{events.length === 0 && <li class="quiet">{isKnown ? 'Nothing has happened yet.' : unknown}</li>}
		</ol>
	</section>
);
