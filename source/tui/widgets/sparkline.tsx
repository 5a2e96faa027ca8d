import type {ReactElement} from 'react';
import {useDrawing} from '../themes/drawing-context.js';
import {loadTone, type LoadTone} from '../themes/tones.js';
import {eighths, type Values} from './graph.js';
import {Label} from './label.js';

const asciiLevels = [...'._-=#'];

/** Returns the character for a share. From 1 % on, the character is visible. Only at 100 % does it look full. */
function levelOf(share: number, isAscii: boolean): string {
	const levels = isAscii ? asciiLevels : eighths;
	const rounded = Math.round(share * (levels.length - 1));
	return levels[Math.max(share < 0.01 ? 0 : 1, Math.min(levels.length - 1, rounded))]!;
}

/** Adjacent characters that have the same tone, and are drawn together. */
type Run = {readonly text: string; readonly tone: LoadTone | 'plain'};

/** Returns a line with a character for each value, grouped by tone. */
export function sparkRuns(values: Values, isAscii: boolean): readonly Run[] {
	const runs: Array<{text: string; tone: Run['tone']}> = [];
	for (const value of values) {
		const text = value === undefined ? ' ' : levelOf(value, isAscii);
		const tone = value === undefined ? 'plain' : loadTone('load', value);
		const last = runs.at(-1);
		if (last?.tone === tone) {
			last.text += text;
		} else {
			runs.push({text, tone});
		}
	}

	return runs;
}

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
