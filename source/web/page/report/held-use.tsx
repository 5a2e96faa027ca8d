/** What was reserved over the last day against what was used of it. */
import type {HeldUseJson} from '../../api/held-use-json.js';
import {useAnswer} from '../shared/answer.js';
import {hourWords} from '../shared/hours.js';
import {unknown} from '../words.js';

const hours = 24;

type Row = HeldUseJson['users'][number];

const percent = (part: number, whole: number): string =>
	whole > 0 ? `${Math.round((part / whole) * 100)} %` : unknown;

/** The parts of a bar, in hours: busy, idle, and not known. */
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
		<td class="number">{hourWords(row.reserved_gpu_hours)}</td>
		<td class="number">{percent(row.used_gpu_hours, row.known_gpu_hours)}</td>
		<td class="number">{row.known_gpu_hours > 0 ? hourWords(row.idle_gpu_hours) : unknown}</td>
	</tr>
);

const legend = [
	['busy', 'something ran'],
	['idle', 'reserved, and nothing ran'],
	['unknown', 'not recorded, or shared with others'],
] as const;

type HeldUseProps = {readonly isShown: boolean; readonly occasion: unknown};

export function HeldUse({isShown, occasion}: HeldUseProps) {
	const {value, problem} = useAnswer<HeldUseJson>(
		isShown ? `/api/held-use?hours=${hours}` : undefined,
		'What was used',
		occasion,
	);
	const most = Math.max(...(value?.users ?? []).map(({reserved_gpu_hours: reserved}) => reserved));
	return (
		<section class="held-use" aria-labelledby="held-use-title">
			<h2 id="held-use-title">{`Reserved against used, the last ${hours} hours`}</h2>
			{problem !== undefined && <p class="banner">{problem}</p>}
			{value?.users.length === 0 && <p class="panel quiet">Nothing was reserved in this time.</p>}
			{value !== undefined && value.users.length > 0 && (
				<>
					<table class="report panel">
						<thead>
							<tr>
								<th scope="col">User</th>
								<td />
								<th scope="col" class="number">
									Reserved hours
								</th>
								<th scope="col" class="number">
									Mean use
								</th>
								<th scope="col" class="number">
									Idle hours
								</th>
							</tr>
						</thead>
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
