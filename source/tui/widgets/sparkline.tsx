import type {ReactElement} from 'react';
import {useDrawing} from '../themes/drawing-context.js';
import {sparkRuns, type Values} from './graph-characters.js';
import {Label} from './label.js';

/** Shows values over time in one line, with one character for each value. */
export function Sparkline({values}: {readonly values: Values}): ReactElement {
	const {isAscii} = useDrawing();
	return (
		<Label>
			{sparkRuns(values, isAscii).map(({text, tone}, index) => (
				<Label key={index} tone={tone}>
					{text}
				</Label>
			))}
		</Label>
	);
}
