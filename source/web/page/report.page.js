/** Who used how much, over a period of 1 to 90 days. */
import {keyedList, make, setAttribute, setShare, setText} from './dom.page.js';
import {counted} from './words.page.js';

const presets = [1, 7, 30, 90];
const splits = [
	['user', 'User'],
	['gpu', 'GPU'],
	['day', 'Day'],
	['model', 'Model'],
];

const hours = (value) => value.toLocaleString(undefined, {minimumFractionDigits: 2, maximumFractionDigits: 2});

function row() {
	const name = make('th', {scope: 'row', class: 'report-name'});
	const bar = make('span', {class: 'bar', 'aria-hidden': 'true'}, make('span', {class: 'bar-fill'}));
	const amount = make('td', {class: 'number'});
	const share = make('td', {class: 'number'});
	const runs = make('td', {class: 'number'});
	const manuals = make('td', {class: 'number'});
	return {
		element: make('tr', {}, name, make('td', {class: 'bar-cell'}, bar), amount, share, runs, manuals),
		update({name: words, gpu_hours: value, percentage, run_count: runCount, manual_count: manualCount, relative}) {
			setText(name, words);
			setShare(bar, relative);
			setText(amount, hours(value));
			setText(share, `${percentage.toFixed(1)} %`);
			setText(runs, runCount);
			setText(manuals, manualCount);
		},
	};
}

const chip = (label, click) =>
	make('button', {type: 'button', class: 'chip', 'aria-pressed': 'false', on: {click}}, label);

export function createReport(container) {
	let days = 30;
	let by = 'user';
	let isShown = false;
	let asked = 0;
	let timer;
	const total = make('p', {class: 'report-total'});
	const problem = make('p', {class: 'banner', hidden: true});
	const nothing = make('p', {class: 'panel quiet', hidden: true}, 'Nothing was used in this period.');
	const head = make('th', {scope: 'col'}, 'User');
	const body = make('tbody');
	const table = make(
		'table',
		{class: 'report panel'},
		make(
			'thead',
			{},
			make(
				'tr',
				{},
				head,
				make('td'),
				...['GPU hours', 'Share', 'Jobs', 'Manual'].map((name) => make('th', {scope: 'col', class: 'number'}, name)),
			),
		),
		body,
	);
	const rows = keyedList(body, row);
	const slider = make('input', {
		type: 'range',
		min: 1,
		max: 90,
		value: days,
		id: 'report-days',
		on: {
			input() {
				setDays(Number(slider.value));
			},
		},
	});
	const sliderWords = make('output', {for: 'report-days', class: 'slider-words'});
	const dayChips = presets.map((count) => [
		count,
		chip(counted(count, 'day'), () => {
			setDays(count);
		}),
	]);
	const splitChips = splits.map(([name, label]) => [
		name,
		chip(label, () => {
			by = name;
			setText(head, label);
			changed();
		}),
	]);

	async function load() {
		asked++;
		const own = asked;
		try {
			const answer = await fetch(`/api/report?days=${days}&by=${by}`);
			const found = await answer.json();
			if (own !== asked) {
				return;
			}

			if (!answer.ok) {
				throw new Error(found.error);
			}

			show(found);
		} catch (error) {
			problem.hidden = false;
			setText(problem, `The report cannot be had: ${error.message}`);
		}
	}

	function show({users, total_gpu_hours: sum, total_reservations: count, unique_users: people}) {
		problem.hidden = true;
		const most = Math.max(0, ...users.map(({gpu_hours: value}) => value));
		rows.update(
			users.map((user) => ({...user, relative: most > 0 ? (user.gpu_hours / most) * 100 : 0})),
			({name}) => name,
		);
		table.hidden = users.length === 0;
		nothing.hidden = users.length > 0;
		setText(total, `${hours(sum)} GPU hours · ${counted(count, 'reservation')} · ${counted(people, 'user')}`);
	}

	function changed() {
		slider.value = String(days);
		setText(sliderWords, `Last ${counted(days, 'day')}`);
		for (const [count, button] of dayChips) {
			setAttribute(button, 'aria-pressed', String(count === days));
		}

		for (const [name, button] of splitChips) {
			setAttribute(button, 'aria-pressed', String(name === by));
		}

		clearTimeout(timer);
		// While the slider moves there is nothing to be asked.
		timer = setTimeout(load, isShown ? 120 : 0);
	}

	const setDays = (count) => {
		days = count;
		changed();
	};

	container.append(
		make('div', {class: 'section-head'}, make('h1', {id: 'report-title', tabindex: '-1'}, 'Report'), total),
		make(
			'div',
			{class: 'controls panel'},
			make('div', {class: 'control'}, make('label', {for: 'report-days'}, 'Period'), slider, sliderWords),
			make(
				'div',
				{class: 'chips', role: 'group', 'aria-label': 'Usual periods'},
				...dayChips.map(([, button]) => button),
			),
			make(
				'div',
				{class: 'control'},
				make('span', {id: 'report-by'}, 'By'),
				make(
					'div',
					{class: 'chips', role: 'group', 'aria-labelledby': 'report-by'},
					...splitChips.map(([, button]) => button),
				),
			),
		),
		problem,
		nothing,
		table,
	);
	return {
		show() {
			isShown = true;
			changed();
		},
		hide() {
			isShown = false;
		},
		/** Somebody got or gave back GPUs. */
		refresh() {
			if (isShown) {
				changed();
			}
		},
	};
}
