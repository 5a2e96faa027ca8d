/** `/metrics` for Prometheus: read from the picture at each scrape. */
import {Counter, Gauge, Registry} from 'prom-client';
import {labelOf, ownerOf} from '../../core/rules/leases/ownership.js';
import {sanitize} from '../../format/text/text.js';
import {shownStateOf, type ShownState} from '../../core/rules/pool/status.js';
import type {AuditKind} from '../../core/model/types.js';
import type {LiveView, LiveState} from '../../core/live/live-view.js';

const bytesPerMiB = 1_048_576;
const states = ['available', 'in-use', 'unreserved', 'drained', 'error'] as const satisfies readonly ShownState[];

/** Name, help, labels; set again at each scrape, so that what is gone is gone. */
type Setter = (labels: Readonly<Record<string, string>>, value: number | undefined) => void;

export type Metrics = {readonly contentType: string; readonly text: () => Promise<string>};

/** Counters, by what of the audit trail they count. */
const counted: ReadonlyArray<readonly [kind: AuditKind, name: string, help: string]> = [
	['granted', 'grants_total', 'Grants of GPUs since this server began'],
	['refused', 'refusals_total', 'Requests that got nothing since this server began'],
	['expired', 'expiries_total', 'Reservations whose time was over since this server began'],
	['released', 'releases_total', 'GPUs given back since this server began'],
];

export function createMetrics(
	{current: liveView, counts}: Pick<LiveView, 'current' | 'counts'>,
	streams: () => number,
): Metrics {
	const registry = new Registry();
	for (const [kind, name, help] of counted) {
		registry.registerMetric(
			new Counter({
				name: `canhazgpu_${name}`,
				help,
				registers: [],
				collect() {
					this.reset();
					this.inc(counts.get(kind) ?? 0);
				},
			}),
		);
	}

	const gauge = (name: string, help: string, labelNames: readonly string[], collect: (set: Setter) => void): void => {
		registry.registerMetric(
			new Gauge({
				name: `canhazgpu_${name}`,
				help,
				labelNames: [...labelNames],
				registers: [],
				collect() {
					this.reset();
					collect((labels, value) => {
						if (value !== undefined) {
							this.set(labels, value);
						}
					});
				},
			}),
		);
	};

	const reading = (name: string, help: string, value: (row: LiveState['rows'][number]) => number | undefined): void => {
		gauge(name, help, ['gpu'], (set) => {
			for (const row of liveView().rows) {
				set({gpu: String(row.index)}, value(row));
			}
		});
	};

	const mebibytes = (amount: number | undefined): number | undefined =>
		amount === undefined ? undefined : amount * bytesPerMiB;

	gauge('store_up', 'Whether the store answers; while it is 0 the rest is old', [], (set) => {
		const {lost, snapshot} = liveView();
		set({}, lost === undefined && snapshot !== undefined ? 1 : 0);
	});
	gauge('scan_up', 'Whether the GPUs can be read', [], (set) => {
		const {blind, observation} = liveView();
		set({}, blind === undefined && observation !== undefined ? 1 : 0);
	});
	gauge('gpu_info', 'What each GPU is', ['gpu', 'uuid', 'model'], (set) => {
		for (const {index, reading: seen} of liveView().rows) {
			set({gpu: String(index), uuid: sanitize(seen?.uuid ?? ''), model: sanitize(seen?.name ?? '')}, 1);
		}
	});
	gauge('gpu_state', '1 for the state that the GPU is in', ['gpu', 'state'], (set) => {
		for (const row of liveView().rows) {
			const state = shownStateOf(row);
			for (const each of states) {
				set({gpu: String(row.index), state: each}, state === each ? 1 : 0);
			}
		}
	});
	gauge('gpu_drained', 'Whether the GPU is kept from being handed out', ['gpu'], (set) => {
		for (const {index, drain} of liveView().rows) {
			set({gpu: String(index)}, drain === undefined ? 0 : 1);
		}
	});
	gauge('gpu_health_problems', 'How many things are wrong with the GPU', ['gpu'], (set) => {
		for (const {index, health} of liveView().rows) {
			set({gpu: String(index)}, health.length);
		}
	});
	gauge('gpu_lease_info', 'Who holds the GPU', ['gpu', 'user', 'label', 'type'], (set) => {
		for (const {index, lease} of liveView().rows) {
			if (lease === undefined) {
				continue;
			}

			const label = sanitize(labelOf(lease) ?? '');
			set({gpu: String(index), user: sanitize(ownerOf(lease)), label, type: lease.type}, 1);
		}
	});
	reading('gpu_utilization_ratio', 'Share of time in which the GPU worked', ({reading: seen}) =>
		seen?.utilizationPercent === undefined ? undefined : seen.utilizationPercent / 100,
	);
	reading('gpu_memory_used_bytes', 'Memory in use', ({reading: seen}) => mebibytes(seen?.memoryUsedMiB));
	reading('gpu_memory_total_bytes', 'Memory of the GPU', ({reading: seen}) => mebibytes(seen?.memoryTotalMiB));
	reading('gpu_temperature_celsius', 'Temperature', ({reading: seen}) => seen?.temperatureCelsius);
	reading('gpu_power_watts', 'Power drawn', ({reading: seen}) => seen?.powerWatts);
	gauge('queue_length', 'How many wait in line', [], (set) => {
		set({}, liveView().line.length);
	});
	gauge('queue_wait_seconds', 'How long those in line have waited', ['position'], (set) => {
		const {line, now, snapshot} = liveView();
		const sinceRead = now - (snapshot?.now ?? now);
		for (const {position, waitedSeconds} of line) {
			set({position: String(position)}, waitedSeconds + sinceRead);
		}
	});
	gauge('web_event_streams', 'Browsers that listen', [], (set) => {
		set({}, streams());
	});
	return {contentType: registry.contentType, text: async () => registry.metrics()};
}
