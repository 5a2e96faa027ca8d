import type {PageState} from '../state/state.js';

/** Returns why the store cannot be read. Undefined while it can be read, and on a host without a pool. */
export const storeFailure = ({about, store}: PageState): string | undefined =>
	about?.has_pool !== false && store?.live === false ? store.reason : undefined;

/** Returns why the GPUs cannot be read. Undefined while they can be read. */
export const scanFailure = ({scan}: PageState): string | undefined => (scan?.live === false ? scan.reason : undefined);
