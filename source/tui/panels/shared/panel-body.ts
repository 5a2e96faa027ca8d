import type {Line} from '../../widgets/styled-text.js';

/** What a panel makes of its room. */
export type PanelBody = {
	/** What its title says behind its name. */
	readonly beside?: readonly Line[];
	/** At the other end of the title: which of its lines are shown. */
	readonly end: string;
	readonly lines: readonly Line[];
};
