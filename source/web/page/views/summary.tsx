import {freeAmong, splitText} from '../../../format/free-gpus.js';
import {gpuStates} from '../../../format/states.js';
import type {Gpu, Waiter} from '../fields.js';
import {counted, shownStates, unknown} from '../text.js';

const sumOf = <Key extends string>(rows: ReadonlyArray<Readonly<Partial<Record<Key, number>>>>, key: Key): number =>
	rows.reduce((sum, row) => sum + (row[key] ?? 0), 0);

type TileProps = {
	readonly name: string;
	readonly value: string | number;
	readonly more?: string;
	readonly state?: string;
	readonly isQuiet?: boolean;
};

const Tile = ({name, value, more, state, isQuiet = false}: TileProps) => (
	<dl class="tile" data-state={state} data-quiet={isQuiet ? '' : undefined}>
		<dt>{name}</dt>
		<dd>{value}</dd>
		<dd>{more}</dd>
	</dl>
);

function utilizationText(gpus: readonly Gpu[]): string {
	const known = gpus.filter(({utilization}) => utilization !== undefined);
	return known.length === 0 ? unknown : `${Math.round(sumOf(known, 'utilization') / known.length)} %`;
}

function powerText(gpus: readonly Gpu[]): string {
	const watts = sumOf(gpus, 'power_w');
	return gpus.every(({power_w: amount}) => amount === undefined)
		? unknown
		: watts >= 1000
			? `${(watts / 1000).toFixed(1)} kW`
			: `${Math.round(watts)} W`;
}

type SummaryProps = {
	readonly gpus: readonly Gpu[];
	readonly queue: readonly Waiter[];
	/** False until the first state has arrived. Until then, no numbers are shown. */
	readonly isKnown: boolean;
};

export function Summary({gpus, queue, isKnown}: SummaryProps) {
	const usedMb = sumOf(gpus, 'memory_used_mb');
	const totalMb = sumOf(gpus, 'memory_total_mb');
	const wanted = sumOf(queue, 'requested_count');
	return (
		<div id="summary">
			{shownStates.map((state) => {
				const those = gpus.filter((gpu) => gpu.state === state);
				const free = state === 'available' ? freeAmong(those) : undefined;
				const count = those.length;
				return count === 0 && state === 'drained' ? undefined : (
					<Tile
						key={state}
						name={gpuStates[state].label}
						state={state}
						value={isKnown ? (free?.whole ?? count) : unknown}
						more={isKnown && free !== undefined ? `${splitText(free)} of ${gpus.length}`.trim() : ''}
						isQuiet={count === 0}
					/>
				);
			})}
			<Tile
				name="Waiting"
				value={isKnown ? queue.length : unknown}
				more={queue.length === 0 ? '' : `for ${counted(wanted, 'GPU')}`}
			/>
			<Tile name="Mean use" value={utilizationText(gpus)} />
			<Tile
				name="Memory"
				value={totalMb === 0 ? unknown : `${Math.round(usedMb / 1024)} GiB`}
				more={totalMb === 0 ? '' : `of ${Math.round(totalMb / 1024)}`}
			/>
			<Tile name="Power" value={powerText(gpus)} />
		</div>
	);
}
