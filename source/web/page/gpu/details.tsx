/** What a card shows when it is open. */
import type {Gpu, Process} from '../fields.js';
import {useNow} from '../state/store.js';
import type {Utilization} from '../state/utilization.js';
import {dateWords, gigabytes, sinceWords, untilWords, withUnit} from '../words.js';
import {Chart} from './chart.js';

const kinds: Readonly<Record<string, string>> = {run: 'Job (run)', manual: 'Reservation (manual)'};

const modelWords = ({model_info: model}: Gpu): string | undefined =>
	model &&
	[model.provider, model.model]
		.filter((part) => part !== undefined && model.model?.startsWith(`${part}/`) !== true)
		.join(' / ');

const ago = (time: string | undefined, nowMs: number): string | undefined =>
	time === undefined ? undefined : `${dateWords(time)} (${sinceWords(time, nowMs)} ago)`;

const endWords = ({expiry_time: expiry, ends_by: endsBy}: Gpu, nowMs: number): string | undefined => {
	const end = expiry ?? endsBy;
	return end === undefined ? undefined : `${dateWords(end)} (in ${untilWords(end, nowMs)})`;
};

const idleWords = ({idle_since: time}: Gpu, nowMs: number): string | undefined =>
	time === undefined ? undefined : `for ${sinceWords(time, nowMs)}`;

const heartbeatWords = ({reservation_type: kind, last_heartbeat: time}: Gpu, nowMs: number): string | undefined =>
	kind === 'run' && time !== undefined ? `${sinceWords(time, nowMs)} ago` : undefined;

const drainWords = ({drain}: Gpu): string | undefined =>
	drain && [drain.reason ?? 'no reason given', drain.by].filter(Boolean).join(', by ');

const limited = (value: number | undefined, limit: number | undefined, unit: string): string | undefined =>
	value === undefined
		? undefined
		: `${withUnit(value, unit)}${limit === undefined ? '' : ` of ${withUnit(limit, unit)}`}`;

/** A fact without words is left out. */
const facts: ReadonlyArray<readonly [name: string, words: (gpu: Gpu, nowMs: number) => string | undefined]> = [
	['Owner', (gpu) => gpu.user],
	['Kind', (gpu) => kinds[gpu.reservation_type ?? '']],
	['Since', (gpu, nowMs) => ago(gpu.start_time, nowMs)],
	['Ends', endWords],
	['Heartbeat', heartbeatWords],
	['Last released', (gpu, nowMs) => ago(gpu.last_released, nowMs)],
	['Idle', idleWords],
	['Model', modelWords],
	['Note', (gpu) => gpu.note],
	['Problem', (gpu) => gpu.error],
	['Health', (gpu) => gpu.health?.join('; ')],
	['Draining', drainWords],
	['In use by', (gpu) => gpu.process_info],
	['Validation', (gpu) => gpu.validation_info],
	['Temperature', (gpu) => limited(gpu.temperature, gpu.temperature_limit, ' °C')],
	['Power', (gpu) => limited(gpu.power_w, gpu.power_limit_w, ' W')],
	['Fan', (gpu) => limited(gpu.fan_percent, undefined, ' %')],
	['Clock', (gpu) => limited(gpu.clock_mhz, undefined, ' MHz')],
	['Slowed by', (gpu) => gpu.throttled_by?.join(', ')],
	['UUID', (gpu) => gpu.uuid],
];

function Facts({gpu}: {readonly gpu: Gpu}) {
	const nowMs = useNow();
	return (
		<dl class="facts">
			{facts.map(([name, wordsOf]) => {
				const words = wordsOf(gpu, nowMs) ?? '';
				return words === '' ? undefined : (
					<div key={name} class="fact">
						<dt>{name}</dt>
						<dd>{words}</dd>
					</div>
				);
			})}
		</dl>
	);
}

const ProcessRow = ({process}: {readonly process: Process}) => (
	<tr>
		<th scope="row" class="number">
			{process.pid}
		</th>
		<td>{process.user ?? 'unknown'}</td>
		<td class="command" title={process.command}>
			{process.command ?? process.name ?? 'unknown process'}
		</td>
		<td class="number">{gigabytes(process.memory_used_mb)}</td>
		<td class="number">{withUnit(process.cpu_percent, ' %')}</td>
	</tr>
);

const Processes = ({processes = []}: Pick<Gpu, 'processes'>) => (
	<div class="process-box">
		<h4>Processes</h4>
		{processes.length === 0 ? (
			<p class="quiet">No processes are seen on it.</p>
		) : (
			<table class="processes">
				<thead>
					<tr>
						<th scope="col" class="number">
							PID
						</th>
						<th scope="col">User</th>
						<th scope="col">Command</th>
						<th scope="col" class="number">
							Memory
						</th>
						<th scope="col" class="number">
							CPU
						</th>
					</tr>
				</thead>
				<tbody>
					{processes.map((process) => (
						<ProcessRow key={process.pid} process={process} />
					))}
				</tbody>
			</table>
		)}
	</div>
);

type DetailsProps = {readonly gpu: Gpu; readonly utilization: Utilization | undefined};

export const Details = ({gpu, utilization}: DetailsProps) => (
	<div class="details">
		{utilization && <Chart gpu={gpu.gpu_id} utilization={utilization} />}
		<Facts gpu={gpu} />
		<Processes processes={gpu.processes} />
	</div>
);
