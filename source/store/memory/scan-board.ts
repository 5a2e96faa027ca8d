import type {ScanBoard, ScannerRole} from '../../core/model/ports.js';
import {postedScan} from '../posted-scan.js';

/** The scan board of the reference store. */
export type MemoryScanBoard = ScanBoard & {
	/** Puts anything in the place of a scan, for tests that spoil it. */
	readonly spoil: (text: string) => void;
	readonly clear: () => void;
};

export function createMemoryScanBoard(now: () => number): MemoryScanBoard {
	const listeners = new Set<{readonly posted: () => void}>();
	let role: (ScannerRole & {readonly until: number}) | undefined;
	let scan: {readonly time: number; readonly text: string} | undefined;
	return {
		async claim({owner, intervalMs}, seconds) {
			if (role !== undefined && role.until > now() && role.owner !== owner && role.intervalMs <= intervalMs) {
				return false;
			}

			role = {owner, intervalMs, until: now() + seconds};
			return true;
		},
		async resign(owner) {
			role = role?.owner === owner ? undefined : role;
		},
		async post(owner, text) {
			if (role?.owner !== owner || role.until <= now()) {
				return false;
			}

			scan = {time: now(), text};
			queueMicrotask(() => {
				for (const {posted} of listeners) {
					posted();
				}
			});
			return true;
		},
		latest: async () => scan && postedScan(scan.time, scan.text, now()),
		async subscribe(posted) {
			const subscription = {posted};
			listeners.add(subscription);
			return async () => {
				listeners.delete(subscription);
			};
		},
		spoil(text) {
			scan = {time: now(), text};
		},
		clear() {
			role = undefined;
			scan = undefined;
		},
	};
}
