import {Chips} from '../shared/chips.js';
import type {About, Report, ReportRow} from '../fields.js';
import {useAnswer} from '../shared/answer.js';
import {useQuestion} from '../shared/question.js';
import type {ViewProps} from '../slots.js';
import {share} from '../widgets.js';
import {hourText} from '../shared/hours.js';
import {Select} from '../shared/select.js';
import {TableHead, type TableColumns} from '../shared/table-head.js';
import {counted, dateText, unknown} from '../text.js';
import {ReportChart} from './chart.js';
import {HeldUse, usePeriods, type UseHours} from './held-use.js';

const defaultDays = 30;
const mostDays = 90;

const presets = [1, 7, 30, 90].map((days) => [days, counted(days, 'day')] as const);

const splits = [
	['user', 'User'],
	['gpu', 'GPU'],
	['day', 'Day'],
	['model', 'Model'],
] as const;

type Split = (typeof splits)[number][0];

type Question = {
	readonly days: number;
	readonly by: Split;
	readonly host: string;
	/** The first date of a range, such as `2026-05-01`. Empty if the period is the last `days` days. */
	readonly from: string;
	readonly to: string;
	readonly used: UseHours;
};

const dayIn = (query: URLSearchParams, name: string): string =>
	/^\d{4}-\d\d-\d\d$/v.exec(query.get(name) ?? '')?.[0] ?? '';

function questionIn(query: URLSearchParams): Question {
	const days = Number(query.get('days') ?? defaultDays);
	return {
		days: Number.isSafeInteger(days) && days >= 1 && days <= mostDays ? days : defaultDays,
		by: splits.find(([name]) => name === query.get('by'))?.[0] ?? 'user',
		host: query.get('host') ?? '',
		from: dayIn(query, 'from'),
		to: dayIn(query, 'to'),
		used: usePeriods.find(([hours]) => String(hours) === query.get('used'))?.[0] ?? 24,
	};
}

/** Returns the query of a question. A range of dates works only for this host. */
const queryOf = ({days, by, host, from, to}: Question): Readonly<Record<string, string>> => ({
	...(from === '' || host !== '' ? {days: String(days)} : {from, ...(to !== '' && {to})}),
	by,
	...(host !== '' && {host}),
});

const addressOf = (question: Question): Readonly<Record<string, string>> => ({
	...queryOf(question),
	...(question.used !== 24 && {used: String(question.used)}),
});

const totalText = (report: Report): string =>
	[
		`${dateText(report.since)} – ${dateText(report.until)}`,
		`${hourText(report.total_gpu_hours)} GPU hours`,
		...(report.total_mig_instance_hours === undefined
			? []
			: [`${hourText(report.total_mig_instance_hours)} hours of MIG instances`]),
		counted(report.total_reservations, 'reservation'),
		counted(report.unique_users, 'user'),
	].join(' · ');

type RowProps = {readonly row: ReportRow; readonly most: number; readonly hasInstances: boolean};

const Row = ({row, most, hasInstances}: RowProps) => (
	<tr>
		<th scope="row" class="report-name" title={row.name}>
			{row.name}
		</th>
		<td class="bar-cell">
			<span class="bar" aria-hidden="true" style={share(most > 0 ? ((row.percentage ?? 0) / most) * 100 : 0)}>
				<span class="bar-fill" />
			</span>
		</td>
		<td class="number">{hourText(row.gpu_hours)}</td>
		{hasInstances && <td class="number">{hourText(row.mig_instance_hours)}</td>}
		<td class="number">{row.percentage === undefined ? unknown : `${row.percentage.toFixed(1)} %`}</td>
		<td class="number">{row.run_count?.toLocaleString() ?? unknown}</td>
		<td class="number">{row.manual_count?.toLocaleString() ?? unknown}</td>
	</tr>
);

const numberColumns = (hasInstances: boolean): TableColumns =>
	['GPU hours', ...(hasInstances ? ['MIG hours'] : []), 'Share', 'Jobs', 'Manual'].map((name) => [name, 'number']);

type ReportTableProps = {
	readonly rows: readonly ReportRow[];
	readonly head: string;
	readonly isOld: boolean;
};

function ReportTable({rows, head, isOld}: ReportTableProps) {
	const hasInstances = rows.some(({mig_instance_hours: hours}) => hours !== undefined);
	// The largest share. Its bar has the full length.
	const most = Math.max(0, ...rows.map(({percentage = 0}) => percentage));
	return (
		<table class="report panel" data-old={isOld ? '' : undefined}>
			<TableHead columns={[[head], [''], ...numberColumns(hasInstances)]} />
			<tbody>
				{rows.map((row) => (
					<Row key={row.name} row={row} most={most} hasInstances={hasInstances} />
				))}
			</tbody>
		</table>
	);
}

type ChoiceProps = {readonly question: Question; readonly choose: (parts: Partial<Question>) => void};

const DateChoice = ({question: {from, to}, choose}: ChoiceProps) => (
	<>
		{(['from', 'to'] as const).map((name) => (
			<label key={name} class="control">
				<span>{name === 'from' ? 'From' : 'to'}</span>
				<input
					type="date"
					value={name === 'from' ? from : to}
					min={name === 'to' ? from : undefined}
					disabled={name === 'to' && from === ''}
					onChange={({currentTarget}) => {
						choose({[name]: currentTarget.value, ...(name === 'from' && {to: ''})});
					}}
				/>
			</label>
		))}
	</>
);

const PeriodChoice = ({question: {days, from, host}, choose}: ChoiceProps) => {
	const hasDates = from !== '' && host === '';
	const chooseDays = (chosen: number): void => {
		choose({days: chosen, from: '', to: ''});
	};

	return (
		<>
			<div class="control">
				<label for="report-days">Period</label>
				<input
					type="range"
					min={1}
					max={mostDays}
					value={days}
					id="report-days"
					onInput={({currentTarget}) => {
						chooseDays(Number(currentTarget.value));
					}}
				/>
				<output for="report-days" class="slider-words">
					{hasDates ? 'By dates' : `Last ${counted(days, 'day')}`}
				</output>
			</div>
			<Chips label="Usual periods" choices={presets} chosen={hasDates ? 0 : days} choose={chooseDays} />
		</>
	);
};

const Controls = ({question, choose, about}: ChoiceProps & {readonly about: About | undefined}) => (
	<div class="controls panel">
		<PeriodChoice question={question} choose={choose} />
		{question.host === '' && <DateChoice question={question} choose={choose} />}
		<div class="control">
			<span id="report-by">By</span>
			<Chips
				labelledBy="report-by"
				choices={splits.filter(([name]) => name !== 'model' || about?.hides_models !== true)}
				chosen={question.by}
				choose={(by) => {
					choose({by});
				}}
			/>
		</div>
		{about !== undefined && about.hosts.length > 1 && (
			<Select
				label="Host"
				choices={about.hosts.map((name) => [name, name])}
				chosen={question.host === '' ? about.host : question.host}
				choose={(name) => {
					choose({host: name === about.host ? '' : name});
				}}
			/>
		)}
	</div>
);

export default function ReportView({state: {about, leaseChanges}, isShown, query}: ViewProps) {
	const [asked, choose] = useQuestion(
		{view: 'report', read: questionIn, write: addressOf, isKept: true},
		query,
		isShown,
	);
	// If this host has no pool, there is no report of this host, so another host is chosen.
	const question = about?.has_pool === false && asked.host === '' ? {...asked, host: about.hosts[0] ?? ''} : asked;
	const address = `/api/report?${new URLSearchParams(queryOf(question)).toString()}`;
	const {
		value: report,
		problem,
		isOld,
	} = useAnswer<Report>(isShown && about !== undefined ? address : undefined, 'The report', leaseChanges);

	return (
		<>
			<div class="section-head">
				<h1 id="report-title" tabindex={-1}>
					Report
				</h1>
				<p class="report-total">{report && !isOld && totalText(report)}</p>
				<a class="text-button" download href={`${address}&format=csv`}>
					Download as CSV
				</a>
			</div>
			<Controls question={question} choose={choose} about={about} />
			{problem !== undefined && <p class="banner report-problem">{problem}</p>}
			{report === undefined ? (
				problem === undefined && <p class="panel quiet">Loading…</p>
			) : report.users.length === 0 ? (
				<p class="panel quiet">No GPUs were reserved in this period.</p>
			) : (
				<>
					{report.series && <ReportChart series={report.series} isOld={isOld} />}
					<ReportTable rows={report.users} head={splits.find(([name]) => name === question.by)![1]} isOld={isOld} />
				</>
			)}
			{question.host === '' && about?.has_pool === true && about.engine === undefined && (
				<HeldUse
					isShown={isShown}
					occasion={leaseChanges}
					hours={question.used}
					choose={(used) => {
						choose({used});
					}}
				/>
			)}
		</>
	);
}
