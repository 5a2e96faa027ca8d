import {readFileSync, statSync} from 'node:fs';
import process from 'node:process';
import type {ProcessIdentity} from '../../core/model/types.js';
import {liveness} from './processes.js';

type Options = {
	readonly procDirectory?: string;
	/** Ours. */
	readonly uid?: number | undefined;
};

/** What the kernel shows for every account that a user namespace does not know (DEFAULT_OVERFLOWUID). */
const usualOverflowUid = 65_534;

/** Whether the kernel shows accounts without a name of their own in this namespace by this uid. */
function standsForStrangers(uid: number, procDirectory: string): boolean {
	try {
		return uid === Number(readFileSync(`${procDirectory}/sys/kernel/overflowuid`, 'latin1'));
	} catch {
		return false;
	}
}

/**
Whether a process lives and runs as the very account that runs us, also across user namespaces: the kernel shows the owner of /proc/PID by
our own map of uids, in which no two accounts have one uid. Only the uid that stands for all unknown accounts tells nothing.

@param identity - With a start time, or another process with its pid would do.
*/
export function runsAsCaller(
	identity: ProcessIdentity,
	{procDirectory = '/proc', uid = process.getuid?.()}: Options = {},
): boolean {
	if (uid === undefined || uid === usualOverflowUid || standsForStrangers(uid, procDirectory)) {
		return false;
	}

	try {
		const owner = statSync(`${procDirectory}/${identity.pid}`).uid;
		// In this order: what was looked at is what lives.
		return owner === uid && ['alive', 'stopped'].includes(liveness([identity], procDirectory)[0]!);
	} catch {
		return false;
	}
}
