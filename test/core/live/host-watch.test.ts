import {afterEach, expect, test} from 'vitest';
import {watchHosts, type HostWatch, type KnownHost} from '../../../source/core/live/host-watch.js';
import {CanhazgpuError} from '../../../source/errors.js';
import {createVirtualClock} from '../../_helpers/virtual-clock.js';

type Status = {readonly says: string};

let watch: HostWatch<Status> | undefined;

afterEach(() => {
	watch?.stop();
});

function start() {
	const clock = createVirtualClock();
	let answer: Status | CanhazgpuError = {says: 'first'};
	let askedCount = 0;
	watch = watchHosts<Status>({
		names: ['a'],
		async ask() {
			askedCount++;
			if (answer instanceof CanhazgpuError) {
				throw answer;
			}

			return answer;
		},
		clock,
		roundMs: 2000,
		broken(error) {
			throw error;
		},
	});
	const published: Array<KnownHost<Status>> = [];
	return {
		watch,
		clock,
		published,
		askedCount: () => askedCount,
		becomes(next: Status | CanhazgpuError) {
			answer = next;
		},
		subscribe: () =>
			watch!.subscribe((host) => {
				published.push(host);
			}),
	};
}

test('the host watch keeps the original time of an answer that does not change', async () => {
	const {watch: hosts, clock, subscribe, becomes} = start();
	const beganMs = clock.monotonicMs();
	subscribe();
	await clock.pass(9);
	const [known] = hosts.known();
	expect(known).toMatchObject({answer: {status: {says: 'first'}}, answeredMs: beganMs});
	becomes(new CanhazgpuError('failed', 'a: gone'));
	await clock.pass(5);
	const [failing] = hosts.known();
	expect(failing).toMatchObject({answer: {error: 'a: gone'}, before: {answeredMs: beganMs}});
	expect(failing!.answeredMs).toBeGreaterThan(beganMs + 8000);
	becomes({says: 'second'});
	await clock.pass(3);
	expect(hosts.known()[0]!.answeredMs).toBeGreaterThan(failing!.answeredMs);
});

test('if there are subscribers, the host watch queries a host as soon as that host reports a change', async () => {
	const {watch: hosts, clock, published, subscribe, becomes, askedCount} = start();
	hosts.refresh('a');
	await clock.pass(0);
	expect(askedCount()).toBe(0);
	const unsubscribe = subscribe();
	await clock.pass(0);
	becomes({says: 'second'});
	hosts.refresh('a');
	hosts.refresh('b');
	await clock.pass(0);
	expect(published.map(({answer}) => answer)).toEqual([{status: {says: 'first'}}, {status: {says: 'second'}}]);
	unsubscribe();
	hosts.refresh('a');
	await clock.pass(0);
	expect(askedCount()).toBe(2);
});
