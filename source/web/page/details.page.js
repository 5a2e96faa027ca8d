/** What a card shows when it is open. */
import {useChart} from './chart.page.js';
import {keyedList, make, setAttribute, setText} from './dom.page.js';
import {gigabytes, moment, sinceWords, unknown, untilWords, withUnit} from './words.page.js';

const kinds = {run: 'Job (run)', manual: 'Reservation (manual)'};

const modelWords = ({model_info: model}) =>
	model === undefined
		? undefined
		: [model.provider, model.model]
				.filter((part) => part !== undefined && !model.model.startsWith(`${part}/`))
				.join(' / ');

const withAge = (time, age) => (time === undefined ? undefined : `${moment(time)} (${age})`);

/** Name, and the words for it; undefined leaves the line out. */
const facts = [
	['Owner', (gpu) => gpu.user],
	['Kind', (gpu) => kinds[gpu.reservation_type]],
	['Since', (gpu, now) => withAge(gpu.start_time, `${sinceWords(gpu.start_time, now)} ago`)],
	[
		'Ends',
		(gpu, now) => withAge(gpu.expiry_time ?? gpu.ends_by, `in ${untilWords(gpu.expiry_time ?? gpu.ends_by, now)}`),
	],
	[
		'Heartbeat',
		(gpu, now) =>
			gpu.reservation_type === 'run' && gpu.last_heartbeat !== undefined
				? `${sinceWords(gpu.last_heartbeat, now)} ago`
				: undefined,
	],
	['Last released', (gpu, now) => withAge(gpu.last_released, `${sinceWords(gpu.last_released, now)} ago`)],
	['Idle', (gpu, now) => gpu.idle_since && `for ${sinceWords(gpu.idle_since, now)}`],
	['Model', modelWords],
	['Note', (gpu) => gpu.note],
	['Problem', (gpu) => gpu.error],
	['Health', (gpu) => gpu.health?.join('; ')],
	[
		'Draining',
		(gpu) =>
			gpu.drain === undefined
				? undefined
				: [gpu.drain.reason ?? 'no reason given', gpu.drain.by].filter(Boolean).join(', by '),
	],
	['In use by', (gpu) => gpu.process_info],
	['Validation', (gpu) => gpu.validation_info],
	[
		'Temperature',
		(gpu) =>
			gpu.temperature === undefined
				? undefined
				: `${withUnit(gpu.temperature, ' °C')}${gpu.temperature_limit === undefined ? '' : ` of ${withUnit(gpu.temperature_limit, ' °C')}`}`,
	],
	[
		'Power',
		(gpu) =>
			gpu.power_w === undefined
				? undefined
				: `${withUnit(gpu.power_w, ' W')}${gpu.power_limit_w === undefined ? '' : ` of ${withUnit(gpu.power_limit_w, ' W')}`}`,
	],
	['Fan', (gpu) => (gpu.fan_percent === undefined ? undefined : withUnit(gpu.fan_percent, ' %'))],
	['Clock', (gpu) => (gpu.clock_mhz === undefined ? undefined : withUnit(gpu.clock_mhz, ' MHz'))],
	['Slowed by', (gpu) => gpu.throttled_by?.join(', ')],
	['UUID', (gpu) => gpu.uuid],
];

const cell = (label, more) => make('td', {'data-label': label, ...more});

function processRow(first) {
	const user = cell('User');
	const command = cell('Command', {class: 'command'});
	const memory = cell('Memory', {class: 'number'});
	const cpu = cell('CPU', {class: 'number'});
	return {
		element: make('tr', {}, make('th', {scope: 'row', class: 'number'}, String(first.pid)), user, command, memory, cpu),
		update(process) {
			setText(user, process.user ?? 'unknown');
			setText(command, process.command ?? process.name ?? 'unknown process');
			setAttribute(command, 'title', process.command);
			setText(memory, gigabytes(process.memory_used_mb));
			setText(cpu, withUnit(process.cpu_percent, ' %'));
		},
	};
}

function processTable() {
	const rows = make('tbody');
	const heads = ['PID', 'User', 'Command', 'Memory', 'CPU'].map((name) =>
		make('th', {scope: 'col', class: ['PID', 'Memory', 'CPU'].includes(name) ? 'number' : undefined}, name),
	);
	const table = make('table', {class: 'processes'}, make('thead', {}, make('tr', {}, ...heads)), rows);
	const none = make('p', {class: 'quiet'}, 'No processes are seen on it.');
	const list = keyedList(rows, processRow);
	return {
		element: make('div', {class: 'process-box'}, make('h4', {}, 'Processes'), table, none),
		update(gpu) {
			const processes = gpu.processes ?? [];
			list.update(processes, ({pid}) => pid);
			table.hidden = processes.length === 0;
			none.hidden = processes.length > 0;
		},
	};
}

export function details(first, {use, nowMs}) {
	const list = make('dl', {class: 'facts'});
	const parts = facts.map(([name, words]) => {
		const value = make('dd');
		const element = make('div', {class: 'fact'}, make('dt', {}, name), value);
		list.append(element);
		return {element, value, words};
	});
	const table = processTable();
	const chart = use === undefined ? undefined : useChart(first.gpu_id, use);
	let gpu = first;

	function tick() {
		const now = nowMs();
		for (const {element, value, words} of parts) {
			const text = words(gpu, now);
			element.hidden = text === undefined || text === '';
			setText(value, text ?? unknown);
		}
	}

	const update = (next) => {
		gpu = next;
		table.update(gpu);
		tick();
	};

	update(first);
	return {
		element: make('div', {class: 'details'}, ...(chart === undefined ? [] : [chart.element]), list, table.element),
		update,
		tick,
		drawUse(isNew) {
			if (isNew) {
				void chart?.draw();
			} else {
				chart?.append(...use.newest(gpu.gpu_id));
			}
		},
		end() {
			chart?.end();
		},
	};
}
