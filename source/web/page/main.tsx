/** Where the page begins. */
import {render} from 'preact';
import {App} from './app.js';
import {startRouter} from './router.js';
import {startStore} from './state/store.js';
import {startTheme} from './theme.js';

startTheme();
startRouter();
startStore();
render(<App />, document.body);
