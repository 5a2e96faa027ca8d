/** The behaviour that every store must have, as one suite that runs on each kind of store. */
import {afterAll, beforeAll, beforeEach, describe} from 'vitest';
import type {Store} from '../../source/core/model/ports.js';
import {changeContract} from './contract/changes.js';
import {crowdContract} from './contract/crowd.js';
import {drainContract} from './contract/drains.js';
import {eventContract} from './contract/events.js';
import {garbageContract} from './contract/garbage.js';
import {historyContract} from './contract/history.js';
import {jobContract} from './contract/jobs.js';
import {loadContract} from './contract/loads.js';
import {policyContract} from './contract/policy.js';
import {queueContract} from './contract/queue.js';
import {recordContract} from './contract/records.js';
import {revisionContract} from './contract/revision.js';
import {sharedGpuContract} from './contract/shared-gpus.js';
import {auditLogContract} from './contract/audit-log.js';
import {scanContract} from './contract/scans.js';
import type {Harness} from './harness.js';

export type Subject = {
	readonly harness: () => Harness;
	/** A store with an empty pool, which all tests share. */
	readonly store: () => Store;
};

export function contract(name: string, makeHarness: () => Promise<Harness>): void {
	describe(`the ${name} store`, () => {
		let harness: Harness;
		let store: Store;
		beforeAll(async () => {
			harness = await makeHarness();
			store = await harness.open();
		});
		beforeEach(async () => {
			await harness.clear();
		});
		afterAll(async () => {
			await harness.close();
		});

		const subject: Subject = {harness: () => harness, store: () => store};
		recordContract(subject);
		sharedGpuContract(subject);
		queueContract(subject);
		historyContract(subject);
		auditLogContract(subject);
		revisionContract(subject);
		drainContract(subject);
		policyContract(subject);
		eventContract(subject);
		garbageContract(subject);
		scanContract(subject);
		loadContract(subject);
		jobContract(subject);
		changeContract(subject);
		crowdContract(subject);
	});
}
