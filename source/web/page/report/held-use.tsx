import type {HeldUseJson} from '../../api/reports.js';
import {Chips} from '../shared/chips.js';
import {useAnswer} from '../shared/answer.js';
import {hourText} from '../shared/hours.js';
import {TableHead, type TableColumns} from '../shared/table-head.js';
import {dateText, unknown} from '../text.js';

/** The periods to choose from, up to a week, because the pool keeps the utilization for a week. */
export const usePeriods = [
	[24, '24 hours'],
	[72, '3 days'],
	[168, 'week'],
] as const;

export type UseHours = (typeof usePeriods)[number][0];

const wordsOf = (hours: UseHours): string => usePeriods.find(([value]) => value === hours)![1];

type Row = HeldUseJson['users'][number];

const percent = (part: number, whole: number): string =>
	whole > 0 ? `${Math.round((part / whole) * 100)} %` : unknown;

const partsOf = ({reserved_gpu_hours: reserved, known_gpu_hours: known, idle_gpu_hours: idle}: Row) =>
	(
		[
			['busy', known - idle],
			['idle', idle],
			['unknown', reserved - known],
		] as const
	).filter(([, value]) => value > 0);

const HeldUseRow = ({row, most}: {readonly row: Row; readonly most: number}) => (
	<tr>
		<th scope="row" class="report-name" title={row.name}>
			{row.name}
		</th>
		<td class="bar-cell">
			<span class="held-bar" aria-hidden="true">
				{partsOf(row).map(([name, value]) => (
					<span
						key={name}
						class="held-part"
						data-part={name}
						style={{width: `${((value / most) * 100).toFixed(3)}%`}}
					/>
				))}
			</span>
		</td>
		<td class="number">{hourText(row.reserved_gpu_hours)}</td>
		<td class="number">{percent(row.used_gpu_hours, row.known_gpu_hours)}</td>
		<td class="number">{row.known_gpu_hours > 0 ? hourText(row.idle_gpu_hours) : unknown}</td>
	</tr>
);

const columns: TableColumns = [
	['User'],
	[''],
	['Reserved hours', 'number'],
	['Mean use', 'number'],
	['Idle hours', 'number'],
];

const legend = [
	['busy', 'something ran'],
	['idle', 'reserved, and nothing ran'],
	['unknown', 'not recorded, or shared with others'],
] as const;

const msPerHour = 3_600_000;

const msOf = ({since, until}: HeldUseJson['not_recorded'][number]): number => Date.parse(until) - Date.parse(since);

function unseenText({since, until, recorded_hours: recorded, not_recorded: gaps}: HeldUseJson): string {
	const longest = gaps.toSorted((a, b) => msOf(b) - msOf(a))[0];
	const hours = msOf({since, until}) / msPerHour;
	if (longest === undefined) {
		return `The GPUs were monitored for ${hourText(recorded)} of ${hourText(hours)} hours, without gaps of ten minutes or more.`;
	}

	const times = `${dateText(longest.since)} – ${dateText(longest.until)}`;
	return `The GPUs were not monitored for ${hourText(hours - recorded)} of ${hourText(hours)} hours: ${gaps.length === 1 ? times : `the longest gap was ${times}`}.`;
}

type HeldUseProps = {
	readonly isShown: boolean;
	readonly occasion: unknown;
	readonly hours: UseHours;
	readonly choose: (hours: UseHours) => void;
};

export function HeldUse({isShown, occasion, hours, choose}: HeldUseProps) {
	const address = `/api/held-use?hours=${hours}`;
	const {value, problem, isOld} = useAnswer<HeldUseJson>(isShown ? address : undefined, 'What was used', occasion);
	const most = Math.max(...(value?.users ?? []).map(({reserved_gpu_hours: reserved}) => reserved));
	return (
		<section class="held-use" aria-labelledby="held-use-title">
			<div class="section-head">
				<h2 id="held-use-title">{`Reserved and used in the last ${wordsOf(hours)}`}</h2>
				<Chips label="Time" choices={usePeriods} chosen={hours} choose={choose} />
				<a class="text-button" download href={`${address}&format=csv`}>
					Download the use as CSV
				</a>
			</div>
			{problem !== undefined && <p class="banner">{problem}</p>}
			{value?.users.length === 0 && <p class="panel quiet">Nothing was reserved in this period.</p>}
			{value !== undefined && !isOld && <p class="held-unseen">{unseenText(value)}</p>}
			{value !== undefined && value.users.length > 0 && (
				<>
					<table class="report panel" data-old={isOld ? '' : undefined}>
						<TableHead columns={columns} />
						<tbody>
							{value.users.map((row) => (
								<HeldUseRow key={row.name} row={row} most={most} />
							))}
						</tbody>
					</table>
					<ul class="legend">
						{legend.map(([part, words]) => (
							<li key={part}>
								<span class="held-part swatch" data-part={part} />
								{words}
							</li>
						))}
					</ul>
				</>
			)}
		</section>
	);
}
