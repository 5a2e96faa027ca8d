/** How busy a GPU was, as the path of a filled curve. Pure. */
import type {PercentJson, UtilizationJson} from '../../api/utilization-json.js';
import type {Span} from './lanes.js';

/** The chart is 1000 wide, whatever time that is, and 100 high. */
const width = 1000;
const height = 100;

/**
Steps over the time that is drawn, from the left of the window to its right. What is not known is a gap, and what lies before the window is left out.

@param values - In percent, oldest first.
*/
export function curveOf(
	values: readonly PercentJson[],
	{step_seconds: stepSeconds, end_ms: endMs}: Pick<UtilizationJson, 'step_seconds' | 'end_ms'>,
	{fromMs, toMs}: Span,
): string {
	const stepMs = stepSeconds * 1000;
	const x = (ms: number): string => (((Math.max(ms, fromMs) - fromMs) / (toMs - fromMs)) * width).toFixed(1);
	let path = '';
	let isOpen = false;
	for (const [index, value] of [...values, null].entries()) {
		const startMs = endMs - (values.length - 1 - index) * stepMs;
		if (value === null || startMs + stepMs <= fromMs) {
			path += isOpen ? `V${height}Z` : '';
			isOpen = false;
			continue;
		}

		path += `${isOpen ? '' : `M${x(startMs)} ${height}`}V${height - value}H${x(startMs + stepMs)}`;
		isOpen = true;
	}

	return path;
}
