/** Where the page begins. */
import {render} from 'preact';
import {App} from './app.js';
import {startRouter} from './router.js';
import {loadStyle, forgetFailedImports} from './late.js';
import {pageState, startStore} from './state/store.js';
import followUpStyle from './styles/late/late-follow-up.css';
import {startTheme} from './theme.js';

const followUpRetryMs = 2000;

startTheme();
startRouter();
startStore();
render(<App />, document.body);

async function loadFollowUp(): Promise<void> {
	try {
		const [{startFollowUp}] = await Promise.all([import('./follow-up/follow-up.js'), loadStyle(followUpStyle)]);
		startFollowUp();
	} catch {
		forgetFailedImports();
		setTimeout(() => {
			void loadFollowUp();
		}, followUpRetryMs);
	}
}

const stopWaiting = pageState.subscribe(() => {
	stopWaiting();
	void loadFollowUp();
});
