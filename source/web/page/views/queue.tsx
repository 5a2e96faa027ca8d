import {WaiterActions} from '../slots.js';
import type {About, Waiter} from '../fields.js';
import {now} from '../state/store.js';
import {Watch} from '../observable.js';
import {Bar, PersonName} from '../widgets.js';
import {counted, duration, holderName, noteWords, sinceText, soonText, unknown as unknownValue} from '../text.js';

const wantedText = ({wanted_gpus: gpus, requested_count: count, allocated_count: held, wants}: Waiter): string => {
	const need = wants === undefined ? '' : ` ${wants}`;
	return gpus === undefined
		? `has ${held} of ${counted(count, 'GPU')}${need}`
		: `wants ${gpus}${need}${held === 0 ? '' : `, has ${held}`}`;
};

/** Returns a text that says when a reservation may go back to the pool early, because it is idle or beyond a limit. Empty if none may. */
const returnText = ({reclaim_at: time}: Waiter, nowMs: number): string =>
	time === undefined || Date.parse(time) <= nowMs ? '' : ` · a reservation may go back at ${soonText(time, nowMs)}`;

function whenText(waiter: Waiter, nowMs: number): string {
	const {served_at: servedAt, impossible, unknown, reason_words: reason} = waiter;
	if (impossible === true) {
		return 'never: impossible in this pool';
	}

	if (unknown === true) {
		return 'unknown: too little of this pool is known to qualify';
	}

	if (servedAt === undefined) {
		return reason ?? `when a job ends${returnText(waiter, nowMs)}`;
	}

	// The estimated time can be in the past if free GPUs may not be granted, or if other people use them without a reservation.
	const leftMs = Date.parse(servedAt) - nowMs;
	const words = leftMs < 1000 ? 'as soon as one is free' : `in about ${duration(leftMs)}`;
	return words + (reason === undefined ? returnText(waiter, nowMs) : ` · ${reason}`);
}

function waiterTimeText(waiter: Waiter, nowMs: number): string {
	const waited = waiter.enqueue_time === undefined ? '' : `waited ${sinceText(waiter.enqueue_time, nowMs)} · `;
	return waited + whenText(waiter, nowMs);
}

export const isOwnEntry = ({user, actual_user: account}: Waiter, own: string | undefined): boolean =>
	(account ?? user) === own;

const WaiterItem = ({waiter}: {readonly waiter: Waiter}) => (
	<li class="waiter">
		<span class="position">{waiter.position}</span>
		<span>
			<span class="who">
				<PersonName user={holderName(waiter)} />
				<span class="wants">{wantedText(waiter)}</span>
			</span>
			<Bar percent={(waiter.allocated_count / Math.max(1, waiter.requested_count)) * 100} />
			<span class="time">
				<Watch of={now}>{(nowMs) => waiterTimeText(waiter, nowMs)}</Watch>
			</span>
			<span class="note" dir="auto">
				{noteWords(waiter)}
			</span>
			<WaiterActions waiter={waiter} />
		</span>
	</li>
);

const WaiterItems = ({queue}: {readonly queue: readonly Waiter[]}) =>
	queue.map((waiter) => <WaiterItem key={waiter.id} waiter={waiter} />);

/** Number of entries, besides the user's own, that are shown while the list is folded. */
const mostShown = 8;

type QueueProps = {
	readonly queue: readonly Waiter[];
	/** Undefined until the first state has arrived. Until then, the page does not claim that the queue is empty. */
	readonly about: About | undefined;
};

export function Queue({queue, about}: QueueProps) {
	const {shown = [], others} = Object.groupBy(queue, (waiter, index) =>
		index < mostShown || isOwnEntry(waiter, about?.acts_as) ? 'shown' : 'others',
	);
	return (
		<section aria-labelledby="queue-title">
			<div class="section-head">
				<h2 id="queue-title">Queue</h2>
				<span id="queue-count" class="count">
					{queue.length === 0 ? '' : queue.length}
				</span>
			</div>
			<ol id="queue" class="panel">
				<WaiterItems queue={shown} />
				{others && (
					<li>
						<details>
							<summary class="quiet">{counted(others.length, 'other')}</summary>
							<ol>
								<WaiterItems queue={others} />
							</ol>
						</details>
					</li>
				)}
				{queue.length === 0 && <li class="quiet">{about ? 'Nobody waits.' : unknownValue}</li>}
			</ol>
		</section>
	);
}
