import {render} from 'preact';
import {App} from './app.js';
import {startRouter} from './router.js';
import {loadStyle, forgetFailedImports} from './late.js';
import {pageState, startStore} from './state/store.js';
import {startTheme} from './theme.js';

const followUpRetryMs = 2000;

startTheme();
startRouter();
startStore();
render(<App />, document.body);

let pressed: ((event: KeyboardEvent) => void) | undefined;

async function loadKeys(event: KeyboardEvent): Promise<void> {
	try {
		({pressed} = await import('./keyboard.js'));
		pressed(event);
	} catch {
		// Ignored: the browser's own keys still work, and the next key tries to load the file again.
		forgetFailedImports();
	}
}

// Added now, because keys can be pressed before the rest of the page has loaded.
addEventListener('keydown', (event) => {
	if (pressed === undefined) {
		void loadKeys(event);
	} else {
		pressed(event);
	}
});

async function loadFollowUp(): Promise<void> {
	try {
		const [{startFollowUp}] = await Promise.all([import('./follow-up/follow-up.js'), loadStyle('follow-up')]);
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
