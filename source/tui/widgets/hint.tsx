import type {ReactElement} from 'react';
import {Label} from './label.js';

type Properties = {
	/** The key as it is written, such as `Space`. */
	readonly name: string;
	readonly word: string;
	/** The key does nothing now. */
	readonly isDisabled?: boolean;
};

/** A key and what it does: `r Reserve`. */
export function Hint({name, word, isDisabled = false}: Properties): ReactElement {
	return (
		<Label tone={isDisabled ? 'dim' : 'plain'}>
			<Label tone={isDisabled ? 'dim' : 'key'}>{name}</Label> {word}
		</Label>
	);
}
