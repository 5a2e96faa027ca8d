/** Where the page begins. */
import {render} from 'preact';
import {App} from './app.js';
import {startRouter} from './router.js';
import {forgetFailedImports} from './shared/attempt.js';
import {startStore} from './state/store.js';
import {startTheme} from './theme.js';

startTheme();
startRouter();
startStore();
render(<App />, document.body);

/** Set from the first key on. */
let pressed: ((event: KeyboardEvent) => void) | undefined;

addEventListener('keydown', (event) => {
	if (pressed !== undefined) {
		pressed(event);
		return;
	}

	const load = async (): Promise<void> => {
		try {
			({pressed} = await import('./keyboard.js'));
			pressed(event);
		} catch {
			// The keys of the browser are left, and the next key asks again.
			forgetFailedImports();
		}
	};

	void load();
});
