import type {ViewProps} from '../slots.js';
import {EventItems} from './event-list.js';

const dayForm = new Intl.DateTimeFormat(undefined, {weekday: 'long', month: 'long', day: 'numeric'});

export default function Events({state: {events}}: ViewProps) {
	const byDay = Map.groupBy(events, ({time_ms: time}) => dayForm.format(new Date(time)));
	return (
		<>
			<div class="section-head">
				<h1 id="events-title" tabindex={-1}>
					Events
				</h1>
			</div>
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
