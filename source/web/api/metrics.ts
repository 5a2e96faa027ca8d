import {Counter, Gauge, Histogram, Registry} from 'prom-client';
import {instanceText} from '../../core/rules/mig/instances.js';
import {latestEndOf} from '../../core/rules/leases/liveness.js';
import {labelOf, ownerOf} from '../../core/rules/leases/ownership.js';
import {unreservedNames} from '../../format/status-labels.js';
import {sanitize} from '../../format/text/text.js';
import {shownStateOf, type ShareRow, type ShownState} from '../../core/rules/pool/status.js';
import type {AuditKind} from '../../core/model/types.js';
import type {LiveView, LiveState} from '../../core/live/live-view.js';
import type {UserSeconds} from '../../core/live/user-seconds.js';

const bytesPerMiB = 1_048_576;
const states = ['available', 'in-use', 'unreserved', 'drained', 'error'] as const satisfies readonly ShownState[];

/** Sets a value unless the value is unknown. Sanitizes the labels. */
type Setter = (labels: Readonly<Record<string, string>>, value: number | undefined) => void;

export type Metrics = {readonly contentType: string; readonly text: () => Promise<string>};

const counted: ReadonlyArray<readonly [kind: AuditKind, name: string, help: string]> = [
	['granted', 'grants_total', 'Grants since this server started, each of one or more GPUs'],
	['refused', 'refusals_total', 'Refused requests since this server started'],
	['expired', 'expiries_total', 'Manual reservations that expired since this server started'],
	['released', 'releases_total', 'Manual releases since this server started, each of one or more GPUs'],
	[
		'ended',
		'ends_total',
		'Reservations since this server started that ended with their job, or because their holder was gone',
	],
];

/** Upper bounds of the histogram of waiting times, in seconds, up to three days. */
const waitBuckets = [1, 10, 60, 300, 900, 1800, 3600, 7200, 14_400, 28_800, 86_400, 259_200];

type MetricsSources = {
	readonly liveView: Pick<LiveView, 'current' | 'counts' | 'subscribeToGrants'>;
	readonly userSeconds: () => ReadonlyMap<string, UserSeconds>;
	readonly streams: () => number;
	/** False while this host has no pool and the server shows only other hosts. */
	readonly hasPool: () => boolean;
	readonly version: string;
};

export function createMetrics({liveView: view, userSeconds, streams, hasPool, version}: MetricsSources): Metrics {
	const liveView = (): LiveState => view.current();
	const registry = new Registry();
	for (const [kind, name, help] of counted) {
		registry.registerMetric(
			new Counter({
				name: `canhazgpu_${name}`,
				help,
				registers: [],
				collect() {
					this.reset();
					this.inc(view.counts.get(kind) ?? 0);
				},
			}),
		);
	}

	const secondsOf = (name: string, help: string, value: (seconds: UserSeconds) => number): void => {
		registry.registerMetric(
			new Counter({
				name: `canhazgpu_${name}`,
				help,
				labelNames: ['user'],
				registers: [],
				collect() {
					this.reset();
					for (const [user, seconds] of userSeconds()) {
						this.inc({user: sanitize(user)}, value(seconds));
					}
				},
			}),
		);
	};

	secondsOf(
		'user_reserved_seconds_total',
		'GPU-seconds that each user has held since this server started; a share counts as its fraction of the memory',
		({reserved}) => reserved,
	);
	secondsOf('user_idle_seconds_total', 'Reserved GPU-seconds of each user during which nothing ran', ({idle}) => idle);
	const waits = new Histogram({
		name: 'canhazgpu_grant_wait_seconds',
		help: 'Wait before each grant since this server started; 0 for grants without waiting',
		buckets: waitBuckets,
		registers: [registry],
	});
	view.subscribeToGrants((seconds) => {
		waits.observe(seconds);
	});

	const gauge = (name: string, help: string, labelNames: readonly string[], collect: (set: Setter) => void): void => {
		registry.registerMetric(
			new Gauge({
				name: `canhazgpu_${name}`,
				help,
				labelNames: [...labelNames],
				registers: [],
				collect() {
					this.reset();
					if (labelNames.length === 0) {
						// A reset sets a metric without labels to 0.
						this.remove();
					}

					collect((labels, value) => {
						if (value !== undefined) {
							this.set(
								Object.fromEntries(Object.entries(labels).map(([label, text]) => [label, sanitize(text)])),
								value,
							);
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

	gauge('store_up', 'Whether the store answers; while it is 0, the other values are old', [], (set) => {
		const {lost, snapshot} = liveView();
		set({}, hasPool() ? Number(lost === undefined && snapshot !== undefined) : undefined);
	});
	gauge('scan_up', 'Whether the GPUs can be read', [], (set) => {
		const {blind, observation} = liveView();
		set({}, hasPool() ? Number(blind === undefined && observation !== undefined) : undefined);
	});
	gauge('gpu_info', 'The UUID and model of each GPU', ['gpu', 'uuid', 'model'], (set) => {
		for (const {index, reading: seen} of liveView().rows) {
			set({gpu: String(index), uuid: seen?.uuid ?? '', model: seen?.name ?? ''}, 1);
		}
	});
	gauge('gpu_state', '1 for the current state of the GPU, 0 for the others', ['gpu', 'state'], (set) => {
		for (const row of liveView().rows) {
			const state = shownStateOf(row);
			for (const each of states) {
				set({gpu: String(row.index), state: each}, state === each ? 1 : 0);
			}
		}
	});
	reading('gpu_drained', 'Whether the GPU is out of service', ({drain}) => (drain === undefined ? 0 : 1));
	reading('gpu_health_problems', 'Number of health problems of the GPU', ({health}) => health.length);
	gauge('gpu_lease_info', 'Who holds the GPU', ['gpu', 'user', 'label', 'type'], (set) => {
		for (const {index, lease} of liveView().rows) {
			if (lease === undefined) {
				continue;
			}

			set({gpu: String(index), user: ownerOf(lease), label: labelOf(lease) ?? '', type: lease.type}, 1);
		}
	});
	reading('gpu_lease_start_timestamp_seconds', 'Start of the reservation', ({lease}) => lease?.startTime);
	reading(
		'gpu_lease_expiry_timestamp_seconds',
		'Latest end of the reservation',
		({lease}) => lease && latestEndOf(lease),
	);
	const shareLabels = ['gpu', 'user', 'label', 'type', 'lease'];
	const shareGauge = (name: string, help: string, value: (share: ShareRow) => number | undefined): void => {
		gauge(name, help, shareLabels, (set) => {
			for (const {index, shares = []} of liveView().rows) {
				const ofMemory = shares.filter(({lease: {mig}}) => mig === undefined);
				for (const share of ofMemory) {
					const {owner, label = '', lease} = share;
					const {type, leaseId = ''} = lease;
					set({gpu: String(index), user: owner, label, type, lease: leaseId}, value(share));
				}
			}
		});
	};

	shareGauge('gpu_share_memory_asked_bytes', 'Memory that a share of the GPU asked for', ({lease}) =>
		mebibytes(lease.memoryMiB),
	);
	shareGauge('gpu_share_memory_used_bytes', 'Memory that the processes of a share use', ({memoryUsedMiB}) =>
		mebibytes(memoryUsedMiB),
	);
	shareGauge('gpu_share_start_timestamp_seconds', 'Start of the share', ({lease}) => lease.startTime);
	shareGauge('gpu_share_expiry_timestamp_seconds', 'Latest end of the share', ({lease}) => latestEndOf(lease));
	shareGauge(
		'gpu_share_over_seconds',
		'How long a share has used more memory than it asked for; 0 while it does not',
		({overSeconds = 0}) => overSeconds,
	);
	reading('gpu_shares', 'Number of shares of the GPU', ({shares = []}) => shares.length);
	reading('gpu_share_capacity_bytes', 'Total memory that the shares of the GPU can have', ({capacityMiB}) =>
		mebibytes(capacityMiB),
	);
	gauge(
		'gpu_mig_lease_info',
		'Who holds each reserved MIG instance',
		['gpu', 'mig', 'uuid', 'profile', 'user', 'label', 'type'],
		(set) => {
			for (const {index, shares = []} of liveView().rows) {
				const held = shares.flatMap(({lease: {mig, type}, ...share}) =>
					mig === undefined ? [] : [{...share, mig, type}],
				);
				for (const {owner, label = '', mig, type} of held) {
					const {number, uuid, profile = ''} = mig;
					const name = instanceText({gpu: index, number});
					set({gpu: String(index), mig: name, uuid, profile, user: owner, label, type}, 1);
				}
			}
		},
	);
	gauge('gpu_unreserved_info', 'Who uses the GPU without a reservation', ['gpu', 'user'], (set) => {
		for (const row of liveView().rows) {
			for (const user of unreservedNames(row)) {
				set({gpu: String(row.index), user}, 1);
			}
		}
	});
	reading(
		'gpu_squatter_processes',
		'Number of processes of other users on a reserved GPU',
		({lease, reading: seen, squatters}) =>
			lease === undefined || seen?.processes === undefined ? undefined : squatters.length,
	);
	gauge('gpu_squatter_info', 'Users with processes on a GPU that somebody else reserved', ['gpu', 'user'], (set) => {
		for (const {index, squatters} of liveView().rows) {
			for (const {user} of squatters) {
				set({gpu: String(index), user: user ?? 'unknown'}, 1);
			}
		}
	});
	reading(
		'gpu_idle_seconds',
		'How long nothing has run on a reserved GPU; absent while something runs',
		({idleSeconds}) => idleSeconds,
	);
	reading(
		'gpu_reclaim_timestamp_seconds',
		'When an idle GPU goes back to the pool; absent without a warning',
		({warning}) => warning?.deadline,
	);
	reading('gpu_mig_instances', 'Number of MIG instances of the GPU', ({reading: seen}) => seen?.migInstances?.length);
	reading('gpu_utilization_ratio', 'Fraction of time in which the GPU was busy, from 0 to 1', ({reading: seen}) =>
		seen?.utilizationPercent === undefined ? undefined : seen.utilizationPercent / 100,
	);
	reading('gpu_memory_used_bytes', 'Memory in use', ({reading: seen}) => mebibytes(seen?.memoryUsedMiB));
	reading('gpu_memory_total_bytes', 'Memory of the GPU', ({reading: seen}) => mebibytes(seen?.memoryTotalMiB));
	reading('gpu_temperature_celsius', 'Temperature', ({reading: seen}) => seen?.temperatureCelsius);
	reading('gpu_power_watts', 'Power drawn', ({reading: seen}) => seen?.powerWatts);
	gauge('queue_length', 'Number of entries in the queue', [], (set) => {
		set({}, liveView().queue.length);
	});
	const waitsNow = (): ReadonlyMap<number, number> => {
		const {queue, now, snapshot} = liveView();
		const sinceRead = now - (snapshot?.now ?? now);
		return new Map(queue.map(({position, waitedSeconds}) => [position, waitedSeconds + sinceRead]));
	};

	gauge('queue_wait_seconds', 'How long the entry at each position has waited', ['position'], (set) => {
		for (const [position, seconds] of waitsNow()) {
			set({position: String(position)}, seconds);
		}
	});
	gauge('queue_oldest_wait_seconds', 'Longest wait in the queue; 0 while nobody waits', [], (set) => {
		set({}, Math.max(0, ...waitsNow().values()));
	});
	gauge('web_event_streams', 'Number of connected event streams of browsers', [], (set) => {
		set({}, streams());
	});
	gauge('build_info', 'The version of canhazgpu', ['version'], (set) => {
		set({version}, 1);
	});
	return {contentType: registry.contentType, text: async () => registry.metrics()};
}
