/** A small line of the last quarter of an hour, without axes: the shape of the work. */
import {makeSvg, setAttribute} from './dom.page.js';

const width = 240;
const height = 36;

/** One path a stretch of known values; a gap where nothing is known. */
function pathOf(values) {
	const step = width / Math.max(1, values.length - 1);
	let path = '';
	let isDown = false;
	for (const [place, value] of values.entries()) {
		if (value === null) {
			isDown = false;
			continue;
		}

		const y = height - 1 - (value / 100) * (height - 2);
		path += `${isDown ? 'L' : 'M'}${(place * step).toFixed(1)} ${y.toFixed(1)}`;
		isDown = true;
	}

	return path;
}

/** The same, down to the ground and closed. */
const areaOf = (path) =>
	path
		.split('M')
		.filter((stretch) => stretch.includes('L'))
		.map((stretch) => {
			const firstX = stretch.split(' ', 1)[0];
			const lastX = stretch.slice(stretch.lastIndexOf('L') + 1).split(' ', 1)[0];
			return `M${stretch}L${lastX} ${height}L${firstX} ${height}Z`;
		})
		.join('');

export function spark() {
	const area = makeSvg('path', {class: 'spark-area'});
	const line = makeSvg('path', {class: 'spark-line'});
	const element = makeSvg(
		'svg',
		{class: 'spark', viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: 'none', 'aria-hidden': 'true'},
		area,
		line,
	);
	return {
		element,
		update({utilization}) {
			const path = pathOf(utilization);
			setAttribute(line, 'd', path);
			setAttribute(area, 'd', areaOf(path));
		},
	};
}
