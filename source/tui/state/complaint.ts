/** What is wrong with what was typed. */

/** A refusal shown inside the dialog, so that what was typed can be mended. */
export type Complaint = {
	readonly message: string;
	readonly hint?: string;
	/** Others have the GPUs now: one can stand in line for them. */
	readonly canWait?: boolean;
};
