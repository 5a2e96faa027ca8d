import {useEffect, useState} from 'preact/hooks';
import type {OccupancyJson} from '../../api/occupancy-json.js';
import type {UtilizationJson} from '../../api/utilization-json.js';
import {useAnswer} from '../shared/answer.js';
import {Chips} from '../shared/chips.js';
import {useQuestion} from '../shared/question.js';
import type {ViewProps} from '../slots.js';
import {duration, holderName} from '../text.js';
import {OccupancyChart} from './chart.js';
import {swatchesOf, swatchStyle} from './swatch.js';

const periods = [
	[24, 'Day'],
	[72, '3 days'],
	[168, 'Week'],
] as const;

type Question = {readonly hours: number; readonly user: string};

const questionIn = (query: URLSearchParams): Question => ({
	hours: periods.find(([hours]) => String(hours) === query.get('hours'))?.[0] ?? periods[0][0],
	user: query.get('user') ?? '',
});

const queryOf = ({hours, user}: Question): Readonly<Record<string, string>> => ({
	hours: String(hours),
	...(user !== '' && {user}),
});

type PeopleProps = {
	readonly occupancy: OccupancyJson;
	readonly chosen: string;
	readonly choose: (user: string) => void;
};

/** Lists people by their GPU time, most first. A click on a person highlights that person's bars. */
function People({occupancy: {spans}, chosen, choose}: PeopleProps) {
	const people = [...Map.groupBy(spans, (held) => holderName(held))]
		.map(([user, own]) => ({
			user,
			ms: own.reduce((sum, held) => sum + Date.parse(held.end_time) - Date.parse(held.start_time), 0),
		}))
		.toSorted((a, b) => b.ms - a.ms);
	const swatches = swatchesOf(people.map(({user: name}) => name));
	return (
		<ul class="people" aria-label="People, sorted by how long they had GPUs">
			{people.map(({user, ms}) => (
				<li key={user}>
					<button
						type="button"
						class="chip person"
						aria-pressed={user === chosen}
						onClick={() => {
							choose(user === chosen ? '' : user);
						}}
					>
						<span
							class="span swatch"
							data-pattern={swatches.get(user)?.pattern}
							style={swatchStyle(swatches.get(user))}
						/>
						<span>
							<bdi>{user}</bdi>
							{` ${duration(ms)}`}
						</span>
					</button>
				</li>
			))}
		</ul>
	);
}

/** The request for a day's utilization, in steps of five minutes, because the chart cannot show shorter steps. */
const useAddress = '/api/use?minutes=1440&points=288';

/** The time in ms after which the chart is refreshed even without events, because the bars grow with time. */
const renewMs = 60_000;

function useMinutes(): number {
	const [minutes, setMinutes] = useState(0);
	useEffect(() => {
		const timer = setInterval(() => {
			setMinutes((count) => count + 1);
		}, renewMs);
		return () => {
			clearInterval(timer);
		};
	}, []);
	return minutes;
}

export default function OccupancyView({state: {leaseChanges}, isShown, query}: ViewProps) {
	const minutes = useMinutes();
	const [{hours, user}, choose] = useQuestion(
		{view: 'occupancy', read: questionIn, write: queryOf, isKept: true},
		query,
		isShown,
	);
	const {value, problem, isOld} = useAnswer<OccupancyJson>(
		isShown ? `/api/occupancy?hours=${hours}` : undefined,
		'The occupancy',
		`${leaseChanges} ${minutes}`,
	);
	const {value: use} = useAnswer<UtilizationJson>(isShown ? useAddress : undefined, 'The use', minutes);
	return (
		<>
			<div class="section-head">
				<h1 id="occupancy-title" tabindex={-1}>
					Occupancy
				</h1>
				<Chips
					label="Period"
					choices={periods}
					chosen={hours}
					choose={(chosen) => {
						choose({hours: chosen});
					}}
				/>
			</div>
			{problem !== undefined && <p class="banner">{problem}</p>}
			{value === undefined ? (
				problem === undefined && <p class="panel quiet">Loading…</p>
			) : (
				<div class="occupancy-box" data-old={isOld && isShown ? '' : undefined}>
					{value.spans.length === 0 ? (
						<p class="quiet">Nobody held a GPU in this period.</p>
					) : (
						<People
							occupancy={value}
							chosen={user}
							choose={(chosen) => {
								choose({user: chosen});
							}}
						/>
					)}
					<OccupancyChart occupancy={value} use={use} hours={hours} chosen={user} />
					<p class="time">
						A bar is a reservation; its pale part is still to come. Reservations shorter than a few minutes are joined
						with their neighbors. The curve above the bars shows how busy the GPU was, where that was recorded.
					</p>
				</div>
			)}
		</>
	);
}
