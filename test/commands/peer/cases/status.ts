/** A GPU in each state: the fields of `status --json` and `/api/status`, and what decides the state. */
import type {LiveState} from '../../../../source/core/live/live-view.js';
import {statusRows, type StatusRow} from '../../../../source/core/rules/pool/status.js';
import type {GpuReading, GpuRecord, Lease, Observation, Snapshot} from '../../../../source/core/model/types.js';
import {statusJson as commandJson} from '../../../../source/format/json/status-json.js';
import {statusJson as apiJson} from '../../../../source/web/api/status-json.js';
import {idleReading, observationOf, snapshotWith} from '../../../_helpers/world.js';
import {fieldCases, type Case, type Group} from './group.js';

const now = 1_800_000_000;
const hour = 3600;
const at = (seconds: number): string => new Date(seconds * 1000).toISOString().replace('.000Z', 'Z');

const nvidiaReading = (changes: Partial<GpuReading> = {}): GpuReading => ({
	...idleReading(0),
	name: 'NVIDIA H100 80GB HBM3',
	memoryUsedMiB: 45,
	...changes,
});

type Seen = {
	readonly rows: readonly StatusRow[];
	readonly snapshot: Snapshot;
	readonly observation: Observation;
};

function see(gpu: GpuRecord, reading: GpuReading | undefined, threshold = 1024): Seen {
	const snapshot = snapshotWith({now, pool: {gpuCount: 1, provider: 'nvidia'}, gpus: [gpu]});
	const observation = observationOf(reading === undefined ? [] : [reading], {provider: 'nvidia'});
	return {rows: statusRows(snapshot, observation, threshold), snapshot, observation};
}

type Json = Readonly<Record<string, unknown>>;

const command = ({rows, observation}: Seen): Json => commandJson(rows, observation)[0]!;

const api = ({rows, snapshot}: Seen): Json => apiJson({rows, snapshot, queue: []} as unknown as LiveState, 'full')[0]!;

const free = (lastReleased?: number): GpuRecord => ({
	kind: 'free',
	index: 0,
	raw: undefined,
	...(lastReleased !== undefined && {lastReleased}),
});

const leased = (lease: Partial<Lease>): GpuRecord => ({
	kind: 'leased',
	index: 0,
	raw: '{}',
	lease: {user: 'alice', actualUser: 'alice', type: 'run', startTime: now - 9045, ...lease},
});

const python = {pid: 12_345, name: 'python3', user: 'alice', commandLine: 'python3 train.py'};
const busy = nvidiaReading({memoryUsedMiB: 8452, processes: [python]});
const used = (...users: readonly string[]) =>
	nvidiaReading({
		memoryUsedMiB: 1536,
		processes: users.map((user, index) => ({pid: index + 1, name: 'python3', user})),
	});

const states = {
	neverUsed: see(free(), nvidiaReading()),
	released: see(free(now - 1815), nvidiaReading()),
	run: see(leased({lastHeartbeat: now - 5}), busy),
	runWithoutHeartbeat: see(leased({}), nvidiaReading()),
	manual: see(leased({type: 'manual', expiryTime: now + 3 * hour + 945}), nvidiaReading()),
	manualWithoutEnd: see(leased({type: 'manual'}), nvidiaReading()),
	memoryAlone: see(leased({lastHeartbeat: now}), nvidiaReading({memoryUsedMiB: 8452})),
	label: see(leased({user: 'team', lastHeartbeat: now}), nvidiaReading()),
	serving: see(
		leased({lastHeartbeat: now}),
		nvidiaReading({
			memoryUsedMiB: 8452,
			processes: [{...python, commandLine: 'vllm serve meta-llama/Llama-2-7b-chat-hf'}],
		}),
	),
	unreserved: see(free(), used('bob')),
	unreservedByTwo: see(free(), used('bob', 'carol')),
	garbage: see({kind: 'garbage', index: 0, raw: '{', problem: 'not JSON'}, nvidiaReading()),
};

function commandCases(): readonly Case[] {
	const {neverUsed, released, run, runWithoutHeartbeat, manual, manualWithoutEnd, memoryAlone} = states;
	const garbage = command(states.garbage);
	return [
		...fieldCases(
			'never used',
			{
				gpu_id: 0,
				status: 'AVAILABLE',
				user: undefined,
				duration: undefined,
				type: undefined,
				details: 'never used',
				validation: '45MB used',
				model: undefined,
				gpu_model: 'H100 80GB HBM3',
				last_released: undefined,
				last_heartbeat: undefined,
				expiry_time: undefined,
				unreserved_users: undefined,
				process_info: undefined,
				error: undefined,
			},
			command(neverUsed),
		),
		...fieldCases('released', {details: 'free for 0h 30m 15s', last_released: at(now - 1815)}, command(released)),
		...fieldCases(
			'a job',
			{
				status: 'IN_USE',
				user: 'alice',
				duration: '2h 30m 45s',
				type: 'RUN',
				details: 'heartbeat 0h 0m 5s ago',
				validation: '8452MB, 1 processes',
				last_heartbeat: at(now - 5),
				expiry_time: undefined,
				unreserved_users: undefined,
				error: undefined,
			},
			command(run),
		),
		...fieldCases(
			'a job without a heartbeat',
			{type: 'RUN', details: 'active', last_heartbeat: undefined, validation: 'no usage detected'},
			command(runWithoutHeartbeat),
		),
		...fieldCases(
			'a reservation',
			{
				status: 'IN_USE',
				type: 'MANUAL',
				details: 'expires in 3h 15m 45s',
				expiry_time: at(now + 3 * hour + 945),
				validation: 'no usage detected',
			},
			command(manual),
		),
		...fieldCases(
			'a reservation without an end',
			{type: 'MANUAL', details: 'manual reservation', expiry_time: undefined},
			command(manualWithoutEnd),
		),
		...fieldCases('memory without a process', {validation: '8452MB used'}, command(memoryAlone)),
		['a label: user', 'team', command(states.label)['user']],
		[
			'a model: model',
			{provider: 'meta-llama', model: 'meta-llama/Llama-2-7b-chat-hf'},
			command(states.serving)['model'],
		],
		...fieldCases(
			'without a reservation',
			{
				status: 'UNRESERVED',
				user: undefined,
				duration: undefined,
				type: undefined,
				details: 'WITHOUT RESERVATION',
				validation: undefined,
				unreserved_users: ['bob'],
				process_info: '1536MB used by 1 process',
			},
			command(states.unreserved),
		),
		...fieldCases('two without one', {unreserved_users: ['bob', 'carol']}, command(states.unreservedByTwo)),
		['a record that cannot be read: status', 'ERROR', garbage['status']],
		['a record that cannot be read: error is told', true, typeof garbage['error'] === 'string'],
		['a record that cannot be read: details say the same', true, garbage['details'] === garbage['error']],
	];
}

const nanosecondsPerSecond = 1e9;

function apiCases(): readonly Case[] {
	return [
		...fieldCases(
			'api, never used',
			{
				gpu_id: 0,
				status: 'AVAILABLE',
				user: undefined,
				reservation_type: undefined,
				validation_info: '[validated: 45MB used]',
				provider: 'NVIDIA',
				gpu_model: 'H100 80GB HBM3',
				last_released: undefined,
				last_heartbeat: undefined,
				expiry_time: undefined,
				unreserved_users: undefined,
				process_info: undefined,
				error: undefined,
				model_info: undefined,
			},
			api(states.neverUsed),
		),
		['api, released: last_released', at(now - 1815), api(states.released)['last_released']],
		...fieldCases(
			'api, a job',
			{
				status: 'IN_USE',
				user: 'alice',
				reservation_type: 'run',
				duration: 9045 * nanosecondsPerSecond,
				last_heartbeat: at(now - 5),
				validation_info: '[validated: 8452MB, 1 processes]',
			},
			api(states.run),
		),
		...fieldCases(
			'api, a reservation',
			{
				reservation_type: 'manual',
				expiry_time: at(now + 3 * hour + 945),
				validation_info: '[validated: no usage detected]',
			},
			api(states.manual),
		),
		['api, a label: user', 'team', api(states.label)['user']],
		[
			'api, a model: model_info',
			{provider: 'meta-llama', model: 'meta-llama/Llama-2-7b-chat-hf'},
			api(states.serving)['model_info'],
		],
		...fieldCases(
			'api, without a reservation',
			{
				status: 'UNRESERVED',
				user: undefined,
				validation_info: undefined,
				unreserved_users: ['bob'],
				process_info: '1536MB used by 1 process',
			},
			api(states.unreserved),
		),
		['api, a record that cannot be read: status', 'ERROR', api(states.garbage)['status']],
		['api, a record that cannot be read: error is told', true, typeof api(states.garbage)['error'] === 'string'],
	];
}

const stateAt = (memoryUsedMiB: number, threshold?: number) =>
	command(see(free(), nvidiaReading({memoryUsedMiB}), threshold))['status'];

export const statusGroups: readonly Group[] = [
	{
		name: 'status --json',
		origin: 'its source',
		cases: commandCases,
		differences: {
			'without a reservation: process_info': 'the processes are named, as its own documentation shows them',
		},
	},
	{
		name: '/api/status',
		origin: 'its source',
		cases: apiCases,
		differences: {
			'api, without a reservation: process_info': 'as above',
		},
	},
	{
		name: 'thresholds',
		origin: 'its tests',
		row: 'thresholds',
		cases: () => [
			['512 MB', 'AVAILABLE', stateAt(512)],
			['1536 MB', 'UNRESERVED', stateAt(1536)],
			['1024 MB', 'AVAILABLE', stateAt(1024)],
			['no memory used', 'AVAILABLE', stateAt(0)],
			['600 MB of 512', 'UNRESERVED', stateAt(600, 512)],
			['no reading', 'AVAILABLE', command(see(free(), undefined))['status']],
		],
		differences: {'no reading': 'ERROR: nobody can compute on a GPU that its tool does not show'},
	},
];
