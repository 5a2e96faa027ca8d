import type {PercentJson} from '../../api/utilization-json.js';
import type {Series} from '../state/state.js';

const width = 240;
const height = 36;

function pathOf(values: readonly PercentJson[]): string {
	const step = width / Math.max(1, values.length - 1);
	let path = '';
	let isDown = false;
	for (const [index, value] of values.entries()) {
		if (value === null) {
			isDown = false;
			continue;
		}

		const y = height - 1 - (value / 100) * (height - 2);
		path += `${isDown ? 'L' : 'M'}${(index * step).toFixed(1)} ${y.toFixed(1)}`;
		isDown = true;
	}

	return path;
}

const areaOf = (path: string): string =>
	path
		.split('M')
		.filter((stretch) => stretch.includes('L'))
		.map((stretch) => {
			const firstX = stretch.split(' ', 1)[0];
			const lastX = stretch.slice(stretch.lastIndexOf('L') + 1).split(' ', 1)[0];
			return `M${stretch}L${lastX} ${height}L${firstX} ${height}Z`;
		})
		.join('');

export function Spark({series}: {readonly series: Series}) {
	const path = pathOf(series.utilization);
	return (
		<svg class="spark" viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" aria-hidden="true">
			<path class="spark-area" d={areaOf(path)} />
			<path class="spark-line" d={path} />
		</svg>
	);
}
