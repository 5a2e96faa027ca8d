/** Who used how much, over a period of 1 to 90 days. */
import {useEffect, useState} from 'preact/hooks';
import type {Report, ReportRow} from '../fields.js';
import {Chips, SectionHead, share} from '../widgets.js';
import {counted} from '../words.js';

const presets = [1, 7, 30, 90].map((days) => [days, counted(days, 'day')] as const);

const splits = [
	['user', 'User'],
	['gpu', 'GPU'],
	['day', 'Day'],
	['model', 'Model'],
] as const;

type Split = (typeof splits)[number][0];

/** While the slider moves there is nothing to be asked. */
const pauseMs = 120;

const hours = (value: number): string =>
	value.toLocaleString(undefined, {minimumFractionDigits: 2, maximumFractionDigits: 2});

const totalWords = ({total_gpu_hours: sum, total_reservations: count, unique_users: users}: Report): string =>
	`${hours(sum)} GPU hours · ${counted(count, 'reservation')} · ${counted(users, 'user')}`;

async function fetchReport(days: number, by: Split): Promise<Report> {
	const answer = await fetch(`/api/report?days=${days}&by=${by}`);
	const found = (await answer.json()) as Report | {readonly error: string};
	if ('error' in found) {
		throw new Error(found.error);
	}

	return found;
}

type Loaded = {readonly report?: Report; readonly problem?: string};

/** Asked for again when the choice or the leases change while it is shown; what is known stays until the answer is there. */
function useReport(days: number, by: Split, isShown: boolean, leaseChanges: number): Loaded {
	const [loaded, setLoaded] = useState<Loaded>({});
	useEffect(() => {
		if (!isShown) {
			return;
		}

		let isOld = false;
		const load = async (): Promise<void> => {
			try {
				const report = await fetchReport(days, by);
				if (!isOld) {
					setLoaded({report});
				}
			} catch (error) {
				const problem = `The report cannot be had: ${error instanceof Error ? error.message : String(error)}`;
				setLoaded((known) => (isOld ? known : {...known, problem}));
			}
		};

		const timer = setTimeout(() => {
			void load();
		}, pauseMs);
		return () => {
			isOld = true;
			clearTimeout(timer);
		};
	}, [days, by, isShown, leaseChanges]);
	return loaded;
}

const Row = ({row, most}: {readonly row: ReportRow; readonly most: number}) => (
	<tr>
		<th scope="row" class="report-name">
			{row.name}
		</th>
		<td class="bar-cell">
			<span class="bar" aria-hidden="true" style={share(most > 0 ? (row.gpu_hours / most) * 100 : 0)}>
				<span class="bar-fill" />
			</span>
		</td>
		<td class="number">{hours(row.gpu_hours)}</td>
		<td class="number">{`${row.percentage.toFixed(1)} %`}</td>
		<td class="number">{row.run_count}</td>
		<td class="number">{row.manual_count}</td>
	</tr>
);

const numberHeads = ['GPU hours', 'Share', 'Jobs', 'Manual'];

function ReportTable({rows, head}: {readonly rows: readonly ReportRow[]; readonly head: string | undefined}) {
	const most = Math.max(0, ...rows.map(({gpu_hours: value}) => value));
	return (
		<table class="report panel">
			<thead>
				<tr>
					<th scope="col">{head}</th>
					<td />
					{numberHeads.map((name) => (
						<th key={name} scope="col" class="number">
							{name}
						</th>
					))}
				</tr>
			</thead>
			<tbody>
				{rows.map((row) => (
					<Row key={row.name} row={row} most={most} />
				))}
			</tbody>
		</table>
	);
}

type ReportViewProps = {readonly isShown: boolean; readonly leaseChanges: number};

export function ReportView({isShown, leaseChanges}: ReportViewProps) {
	const [days, setDays] = useState(30);
	const [by, setBy] = useState<Split>('user');
	const {report, problem} = useReport(days, by, isShown, leaseChanges);
	return (
		<>
			<SectionHead>
				<h1 id="report-title" tabindex={-1}>
					Report
				</h1>
				<p class="report-total">{report && totalWords(report)}</p>
			</SectionHead>
			<div class="controls panel">
				<div class="control">
					<label for="report-days">Period</label>
					<input
						type="range"
						min={1}
						max={90}
						value={days}
						id="report-days"
						onInput={({currentTarget}) => {
							setDays(Number(currentTarget.value));
						}}
					/>
					<output for="report-days" class="slider-words">
						{`Last ${counted(days, 'day')}`}
					</output>
				</div>
				<Chips label="Usual periods" choices={presets} chosen={days} choose={setDays} />
				<div class="control">
					<span id="report-by">By</span>
					<Chips labelledBy="report-by" choices={splits} chosen={by} choose={setBy} />
				</div>
			</div>
			{problem !== undefined && <p class="banner">{problem}</p>}
			{report?.users.length === 0 ? (
				<p class="panel quiet">Nothing was used in this period.</p>
			) : (
				<ReportTable rows={report?.users ?? []} head={splits.find(([name]) => name === by)?.[1]} />
			)}
		</>
	);
}
