import type {ReactElement} from 'react';
import {Label} from './label.js';

type Properties = {
	/** The key as it is written on the screen, such as `Space`. */
	readonly name: string;
	readonly word: string;
	readonly isDisabled?: boolean;
};

/** Shows a key and its effect, such as `r Reserve`. */
export function Hint({name, word, isDisabled = false}: Properties): ReactElement {
	return (
		<Label tone={isDisabled ? 'dim' : 'plain'}>
			<Label tone={isDisabled ? 'dim' : 'key'}>{name}</Label> {word}
		</Label>
	);
}
