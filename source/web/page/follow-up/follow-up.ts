/** The parts of the page that are loaded after the first view, because the first view does not need them. */
import {followUp, type FollowUp} from '../slots.js';
import {change, now, pageState} from '../state/store.js';
import {Banners} from './banners.js';
import {changesBetween} from './changes.js';
import {showInDocument} from './document.js';
import {Spark} from './spark.js';
import {continued, fetchAll} from './utilization.js';

async function fetchUtilization(): Promise<void> {
	try {
		change({utilization: await fetchAll(() => pageState.get().utilization)});
	} catch {
		// Ignored: a banner shows that the server is unreachable, and everything is requested again when it is back.
	}
}

/** Maximum number of changes that a screen reader reads aloud. If there are more, it reads only how many. */
const mostAnnounced = 4;
const announcementDelayMs = 700;
let unannounced: readonly string[] = [];

function announce(words: readonly string[]): void {
	if (unannounced.length === 0 && words.length > 0) {
		setTimeout(() => {
			const more = unannounced.length - mostAnnounced;
			const said = unannounced.slice(0, mostAnnounced).join('. ');
			unannounced = [];
			change({announcement: `${said}${more > 0 ? `. And ${more} more changes` : ''}`});
		}, announcementDelayMs);
	}

	unannounced = [...unannounced, ...words];
}

const heard: FollowUp['heard'] = ({before, isWhole, isContinued}) => {
	const state = pageState.get();
	const {words, concernReports} = changesBetween(before, state, isWhole, now.get());
	change({
		utilization: continued(state.utilization, state.gpus, now.get()),
		leaseChanges: state.leaseChanges + (concernReports ? 1 : 0),
	});
	announce(words);
	if (!isContinued) {
		void fetchUtilization();
	}
};

/** Starts the parts that are loaded late. Must be called once. All messages that arrived before the call are treated as one message. */
export function startFollowUp(): void {
	let wasLost = false;
	const followLink = (): void => {
		const {kind} = pageState.get().link;
		const isLost = kind === 'lost';
		if (isLost && !wasLost) {
			announce(['The connection to the server is lost']);
		} else if (wasLost && kind === 'live') {
			announce(['The connection is back']);
		}

		wasLost = isLost;
	};

	followLink();
	pageState.subscribe(followLink);
	const before = pageState.get();
	if (before.about !== undefined) {
		heard({before, isWhole: true, isContinued: false});
	}

	followUp.set({Banners, Spark, showInDocument, heard});
}
