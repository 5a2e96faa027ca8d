import {createContext, use, type ReactElement, type ReactNode} from 'react';
import {Text} from 'ink';
import {useStyle} from '../themes/theme-context.js';
import type {Tone} from '../themes/tones.js';

/** Changes the look of everything inside, such as a table row. */
export type Emphasis =
	| 'normal'
	/** A selected row: plain text is bold. */
	| 'selected'
	/** Text that repeats the row above: plain text is faint. */
	| 'repeated'
	/** Outdated values: all text is faint. */
	| 'old';

export const EmphasisContext = createContext<Emphasis>('normal');

function emphasized(tone: Tone, emphasis: Emphasis): Tone {
	switch (emphasis) {
		case 'normal': {
			return tone;
		}

		case 'selected': {
			return tone === 'plain' ? 'strong' : tone;
		}

		case 'repeated': {
			return tone === 'plain' || tone === 'others' ? 'dim' : tone;
		}

		case 'old': {
			return tone === 'marked' ? tone : 'dim';
		}
	}
}

type Properties = {
	readonly tone?: Tone;
	/** `wrap` continues long text on the next line. */
	readonly wrap?: 'truncate-end' | 'truncate-middle' | 'wrap';
	readonly children?: ReactNode;
};

/** Text in a tone of the theme. Text that is too long ends in an ellipsis. Labels can be nested. */
export function Label({tone = 'plain', wrap = 'truncate-end', children}: Properties): ReactElement {
	const style = useStyle(emphasized(tone, use(EmphasisContext)));
	return (
		<Text wrap={wrap} {...style}>
			{children}
		</Text>
	);
}
