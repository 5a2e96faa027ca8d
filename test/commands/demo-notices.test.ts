import {expect, test} from 'vitest';
import type {App} from '../../source/app/contract.js';
import {withoutNotices} from '../../source/commands/shared/without-notices.js';
import {openMine} from '../../source/commands/web-mine.js';
import type {AcquireRequest} from '../../source/core/rules/request/request.js';
import {eventually} from '../_helpers/eventually.js';
import {person} from '../_helpers/world.js';

function createApp() {
	const sent: unknown[] = [];
	const app = {
		host: {hostname: 'box', account: {name: 'alice'}},
		openPrivateDirectory: async () => '/tmp',
		loadCallerCheck: async () => () => true,
		async notify(notice: unknown) {
			sent.push(notice);
			return [];
		},
	} as unknown as App;
	return {app, sent};
}

const request = {requester: person('alice')} as unknown as AcquireRequest;

test('web --mine sends a notice when a request is served, but none in a demo', async () => {
	const {app, sent} = createApp();
	for (const shown of [withoutNotices(app), app]) {
		const {address, end} = await openMine(shown, 8081);
		address.served(request, {gpus: [0], leaseId: shown === app ? 'real' : 'demo'} as never);
		end();
	}

	await eventually(() => sent.length > 0);
	expect(sent).toMatchObject([{kind: 'served', leaseId: 'real'}]);
});
