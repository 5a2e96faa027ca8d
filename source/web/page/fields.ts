/** Lists every field of the API, and whether the page shows the field. The code does not compile if a field is missing here. */
import type {JobJson} from '../api/jobs-json.js';
import type {AboutJson, EventJson} from '../api/live-json.js';
import type {ReportJson} from '../api/reports.js';
import type {GpuJson, WaiterJson} from '../api/status-json.js';

/** The fields of `Json` that are marked as shown. Components cannot read any other fields. */
type Shown<Json, Fields extends Record<keyof Json, boolean>> = Pick<
	Json,
	{[Field in keyof Json]: Fields[Field] extends true ? Field : never}[keyof Json]
>;

type ProcessJson = NonNullable<GpuJson['processes']>[number];

export type Process = Partial<
	Shown<
		ProcessJson,
		{
			pid: true;
			user: true;
			name: true;
			command: true;
			memory_used_mb: true;
			cpu_percent: true;
			utilization: true;
			host_memory_mb: true;
			container: true;
			start_time: true;
		}
	>
> &
	Pick<ProcessJson, 'pid'>;

type ShownGpu = Shown<
	GpuJson,
	{
		gpu_id: true;
		node: true;
		node_gpu_id: true;
		// The state in the words of the Go program, which has no word for drained GPUs. The page shows `state` instead.
		status: false;
		state: true;
		user: true;
		shares: true;
		share_capacity_mb: true;
		reservation_type: true;
		start_time: true;
		last_heartbeat: true;
		expiry_time: true;
		ends_by: true;
		is_suspended: true;
		note: true;
		via: true;
		lease_id: true;
		held_for_queue: true;
		last_released: true;
		idle_since: true;
		reclaim_at: true;
		beyond_limit: true;
		parked_since: true;
		keep_until: true;
		validation_info: true;
		unreserved_users: true;
		process_info: true;
		error: true;
		health: true;
		drain: true;
		model_info: true;
		// Not shown, because all GPUs of a pool have the same provider. A badge marks simulated GPUs.
		provider: false;
		gpu_model: true;
		uuid: true;
		memory_used_mb: true;
		memory_total_mb: true;
		utilization: true;
		temperature: true;
		temperature_limit: true;
		power_w: true;
		power_limit_w: true;
		fan_percent: true;
		clock_mhz: true;
		throttled_by: true;
		squatters: true;
		mig_instances: true;
		processes: true;
	}
>;

/** A GPU of this host or of another host. Another host may omit every field except the index and the state. */
export type Gpu = Partial<Omit<ShownGpu, 'reservation_type' | 'drain' | 'model_info' | 'mig_instances' | 'processes'>> &
	Pick<GpuJson, 'gpu_id' | 'state'> & {
		/** `run`, `manual`, or a word that only another host uses. */
		readonly reservation_type?: string;
		readonly drain?: Partial<NonNullable<GpuJson['drain']>>;
		readonly model_info?: Partial<NonNullable<GpuJson['model_info']>>;
		readonly mig_instances?: ReadonlyArray<Partial<NonNullable<GpuJson['mig_instances']>[number]>>;
		readonly processes?: readonly Process[];
	};

export type Waiter = Shown<
	WaiterJson,
	{
		id: true;
		user: true;
		actual_user: true;
		requested_count: true;
		// The page shows `wanted_gpus` instead.
		requested_ids: false;
		wanted_gpus: true;
		// The page shows `wants` instead.
		need: false;
		wants: true;
		eligible_gpus: false;
		// Shown on the cards of the GPUs.
		allocated_gpus: false;
		allocated_count: true;
		reservation_type: false;
		note: true;
		via: true;
		position: true;
		enqueue_time: true;
		expiry_duration: false;
		wait_timeout: false;
		impossible: true;
		unknown: true;
		reclaim_at: true;
		served_at: true;
		// Shown as the text `reason_words`.
		reason: false;
		reason_words: true;
	}
>;

export type Job = Shown<
	JobJson,
	{
		id: true;
		state: true;
		account: true;
		command: true;
		// Not shown: the owner can see these two with a command in a shell.
		directory: false;
		output: false;
		via: true;
		// `details` describes these fields in words.
		requested_count: false;
		need: false;
		gpu_ids: false;
		mig_instances: false;
		array_id: true;
		array_index: false;
		array_limit: false;
		after: false;
		begin: false;
		waits: false;
		details: true;
		submit_time: true;
		start_time: true;
		end_time: true;
		exit_code: false;
		reason: false;
		lease_id: false;
		starts: false;
		retries: false;
	}
>;

export type PoolEvent = Shown<EventJson, {id: true; time_ms: true; kind: true; words: true; note: true}>;

export type About = Shown<
	AboutJson,
	{
		host: true;
		version: true;
		location: true;
		private_label: true;
		engine: true;
		lacks: true;
		offers_shares: true;
		usual_seconds: true;
		keep_time: true;
		mig: true;
		demo: true;
		has_pool: true;
		hosts: true;
		provider: false;
		simulated: true;
		driver: true;
		policy: true;
		acts_as: true;
		hides_models: true;
	}
>;

export type Report = Shown<
	ReportJson,
	{
		users: true;
		total_gpu_hours: true;
		total_mig_instance_hours: true;
		total_reservations: true;
		unique_users: true;
		since: true;
		until: true;
		series: true;
		// Not shown, because the slider and the buttons show the period more precisely.
		start_date: false;
		end_date: false;
		by: false;
		days: false;
	}
>;

export type ReportSeries = NonNullable<ReportJson['series']>;

export type ReportRow = Shown<
	ReportJson['users'][number],
	{
		name: true;
		gpu_hours: true;
		mig_instance_hours: true;
		shared_gib_hours: false;
		percentage: true;
		run_count: true;
		manual_count: true;
	}
>;
