import type {Gpu, Process} from '../fields.js';
import {useNow} from '../shared/hooks.js';
import {TableHead, type TableColumns} from '../shared/table-head.js';
import {gibibytes, sinceText, withUnit} from '../text.js';

type ProcessRowProps = {readonly process: Process; readonly isSquatter: boolean; readonly nowMs: number};

const ProcessRow = ({process, isSquatter, nowMs}: ProcessRowProps) => (
	<tr data-state={isSquatter ? 'unreserved' : undefined}>
		<th scope="row" class="number">
			{process.pid}
		</th>
		<td class="user">
			{process.user ?? 'unknown'}
			{isSquatter && <span class="flag">without reservation</span>}
		</td>
		<td class="command">
			{process.command ?? process.name ?? 'unknown process'}
			{process.container !== undefined && <span class="container">{`container ${process.container}`}</span>}
		</td>
		<td class="number" data-label="GPU memory">
			{gibibytes(process.memory_used_mb)}
		</td>
		<td class="number" data-label="GPU">
			{withUnit(process.utilization, ' %')}
		</td>
		<td class="number" data-label="CPU">
			{withUnit(process.cpu_percent, ' %')}
		</td>
		<td class="number" data-label="Memory">
			{gibibytes(process.host_memory_mb)}
		</td>
		<td class="number" data-label="Runs for">
			{process.start_time === undefined ? '–' : sinceText(process.start_time, nowMs)}
		</td>
	</tr>
);

const columns: TableColumns = [
	['PID', 'number'],
	['User'],
	['Command'],
	['GPU memory', 'number'],
	['GPU', 'number'],
	['CPU', 'number'],
	['Memory', 'number'],
	['Runs for', 'number'],
];

type ProcessTableProps = {readonly processes: readonly Process[]; readonly squatters: readonly number[]};

function ProcessTable({processes, squatters}: ProcessTableProps) {
	const nowMs = useNow();
	return (
		<table class="processes">
			<TableHead columns={columns} />
			<tbody>
				{processes.map((process) => (
					<ProcessRow key={process.pid} process={process} isSquatter={squatters.includes(process.pid)} nowMs={nowMs} />
				))}
			</tbody>
		</table>
	);
}

export const Processes = ({gpu: {node, processes, squatters = []}}: {readonly gpu: Gpu}) => (
	<div class="process-box">
		<h4>Processes</h4>
		{processes === undefined ? (
			<p class="quiet">
				{node === undefined
					? 'The processes of this GPU are unknown.'
					: `The processes on the GPUs of ${node} and their utilization cannot be read from here.`}
			</p>
		) : processes.length === 0 ? (
			<p class="quiet">There are no processes on this GPU.</p>
		) : (
			<ProcessTable processes={processes} squatters={squatters} />
		)}
	</div>
);

const partColumns: TableColumns = [['Instance'], ['Profile'], ['Memory used', 'number'], ['of', 'number'], ['UUID']];

export const MigParts = ({gpu: {gpu_id: gpuId, mig_instances: parts = []}}: {readonly gpu: Gpu}) =>
	parts.length > 0 && (
		<div class="process-box">
			<h4>MIG instances</h4>
			<table class="processes parts">
				<TableHead columns={partColumns} />
				<tbody>
					{parts.map((part, index) => (
						<tr key={part.uuid ?? index}>
							<th scope="row">{`${gpuId}:${part.instance ?? '?'}`}</th>
							<td data-label="Profile">{part.profile ?? 'unknown'}</td>
							<td class="number" data-label="Memory used">
								{gibibytes(part.memory_used_mb)}
							</td>
							<td class="number" data-label="of">
								{gibibytes(part.memory_total_mb)}
							</td>
							<td class="command">{part.uuid ?? '–'}</td>
						</tr>
					))}
				</tbody>
			</table>
		</div>
	);
