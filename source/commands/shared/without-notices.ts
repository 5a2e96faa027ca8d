import type {App} from '../../app/contract.js';

/** Returns the app for a demo, whose simulated grants must not send real notices. */
export const withoutNotices = (app: App): App => ({...app, notify: async () => []});
