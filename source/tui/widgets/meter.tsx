import type {ReactElement} from 'react';
import {useDrawing} from '../themes/drawing-context.js';
import {loadTone} from '../themes/tones.js';
import {Label} from './label.js';

type Properties = {
	/** Determines the colors of the filled part. */
	readonly of: 'load' | 'memory';
	/** The filled part, from 0 to 1. */
	readonly share: number;
	readonly width: number;
};

/** Returns how many of `steps` parts of a bar are filled. From 1 % on, at least one part is filled. Only at 100 % are all parts filled. */
function stepsOf(share: number, steps: number): number {
	const clamped = Math.min(1, Math.max(0, share));
	const least = clamped < 0.01 ? 0 : 1;
	return clamped === 1 ? steps : Math.min(steps - 1, Math.max(least, Math.round(clamped * steps)));
}

/** Draws a bar in the color of its load. The bar is as thin as a line, so that bars in neighboring rows do not touch. */
export function Meter({of, share, width}: Properties): ReactElement {
	const {isAscii} = useDrawing();
	const tone = loadTone(of, share);
	if (isAscii) {
		const filled = stepsOf(share, width - 2);
		return (
			<Label tone={tone}>
				[{'#'.repeat(filled)}
				<Label tone="dim">{'.'.repeat(width - 2 - filled)}</Label>]
			</Label>
		);
	}

	const halves = stepsOf(share, 2 * width);
	return (
		<Label tone={tone}>
			{'━'.repeat(Math.floor(halves / 2))}
			{halves % 2 === 1 ? '╸' : ''}
			<Label tone="frame">{'─'.repeat(width - Math.ceil(halves / 2))}</Label>
		</Label>
	);
}
