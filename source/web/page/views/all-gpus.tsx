import {useState} from 'preact/hooks';
import type {Gpu} from '../fields.js';
import {noteText, StatePill} from '../gpu/card.js';
import {isAsked} from '../gpus/question.js';
import type {KnownHost} from '../state/state.js';
import {useNow} from '../shared/hooks.js';
import {TableHead, type TableColumns} from '../shared/table-head.js';
import {counted, freeIn, gibibytes, joined, timeText, unknown, withUnit} from '../text.js';

type NamedHost = {readonly name: string; readonly host: KnownHost | undefined};

type Row = {readonly name: string; readonly gpu: Gpu; readonly isOld: boolean};

const rowsOf = (hosts: readonly NamedHost[]): readonly Row[] =>
	hosts.flatMap(({name, host}) =>
		(host?.gpus ?? []).map((gpu): Row => ({name, gpu, isOld: host?.error !== undefined})),
	);

function isFound({name, gpu}: Row, filter: string): boolean {
	const words = filter.toLowerCase().split(/\s+/v).filter(Boolean);
	const ask = {user: '', state: '', mine: false, layout: undefined, group: 'none'} as const;
	return words.every((word) => name.toLowerCase().includes(word) || isAsked(gpu, {...ask, filter: word}, ''));
}

/** Returns the totals. Excludes hosts that fail, because their values are old. */
function sumText(hosts: readonly NamedHost[], rows: readonly Row[]): string {
	const current = rows.filter(({isOld}) => !isOld).map(({gpu}) => gpu);
	const failing = hosts.filter(({host}) => host?.error !== undefined).length;
	const asked = hosts.filter(({host}) => host === undefined).length;
	return [
		`${freeIn(current)} of ${counted(current.length, 'GPU')} free on ${counted(hosts.length - failing - asked, 'host')}`,
		...(asked > 0 ? [`${asked} not answered yet`] : []),
		...(failing > 0 ? [`${failing} not answering`] : []),
	].join(', ');
}

function GpuRow({row: {name, gpu, isOld}, nowMs}: {readonly row: Row; readonly nowMs: number}) {
	const sharers = gpu.shares?.map(({user}) => user ?? unknown).join(', ');
	const users = sharers ?? gpu.user ?? gpu.unreserved_users?.join(', ') ?? unknown;
	const more = joined(timeText(gpu, nowMs), noteText(gpu));
	return (
		<tr data-state={gpu.state} data-old={isOld ? '' : undefined}>
			<th scope="row" title={name}>
				<a href={`#/hosts/${encodeURIComponent(name)}`}>{name}</a>
			</th>
			<td class="number host-gpu">{gpu.gpu_id}</td>
			<td>
				<StatePill gpu={gpu} isShort />
				{isOld && <span class="unseen"> before the host stopped answering</span>}
			</td>
			<td class="host-user" title={users}>
				{users}
			</td>
			<td class="number spare">{withUnit(gpu.utilization, ' %')}</td>
			<td class="number spare">{gibibytes(gpu.memory_used_mb)}</td>
			<td class="host-model" title={gpu.gpu_model}>
				{gpu.gpu_model ?? unknown}
			</td>
			<td class="host-more" title={more}>
				{more}
			</td>
		</tr>
	);
}

const columns: TableColumns = [
	['Host'],
	['GPU', 'number'],
	['State'],
	['User'],
	['Use', 'number spare'],
	['Memory', 'number spare'],
	['Model', 'host-model'],
	['Time and note'],
];

export function AllGpus({hosts}: {readonly hosts: readonly NamedHost[]}) {
	const [filter, setFilter] = useState('');
	const nowMs = useNow();
	const rows = rowsOf(hosts);
	const found = rows.filter((row) => isFound(row, filter));
	return (
		<section class="panel all-gpus" aria-label="The GPUs of all hosts">
			<div class="all-gpus-head">
				<label class="control">
					<span>Find</span>
					<input
						id="hosts-filter"
						type="search"
						placeholder="host, name, model, free…"
						autocomplete="off"
						spellcheck={false}
						value={filter}
						onInput={({currentTarget}) => {
							setFilter(currentTarget.value);
						}}
					/>
				</label>
				<span class="time">{sumText(hosts, rows)}</span>
			</div>
			{found.length === 0 ? (
				<p class="quiet">{rows.length === 0 ? 'No GPU is known yet.' : 'No GPU of any host matches.'}</p>
			) : (
				<table>
					<TableHead columns={columns} />
					<tbody>
						{found.map((row) => (
							<GpuRow key={`${row.name} ${row.gpu.gpu_id}`} row={row} nowMs={nowMs} />
						))}
					</tbody>
				</table>
			)}
		</section>
	);
}
