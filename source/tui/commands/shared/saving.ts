import {sanitize} from '../../../format/text/text.js';
import type {Saved} from '../../ports.js';
import {succeeded, type Outcome} from '../command.js';

export const noConfig: Outcome = {
	kind: 'refused',
	complaint: {message: 'This monitor has no config file to save this in'},
};

/** Returns the outcome of saving settings. `what` names the settings in words, such as `preset dense`. */
export const savedOutcome = ({file, isChanged}: Saved, what: string): Outcome =>
	succeeded(
		isChanged ? `Saved in ${sanitize(file)}: ${what}` : `${sanitize(file)} needs no change: it already contains these values`,
	);
