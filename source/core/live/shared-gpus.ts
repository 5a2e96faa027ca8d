/**
GPUs seen through the eyes of all viewers of a pool: one of them scans, the others are shown what it saw. Who scans holds a role in the
store that ends a few seconds after its last sign of life, so that another takes over. For looking only: whoever hands out GPUs scans by
itself.
*/
import type {GpuProvider} from '../model/ports.js';
import type {Observation} from '../model/types.js';
import {ScanViewer, type SharedGpusOptions} from './scan-viewer.js';

/** Sees GPUs as `createScanner` does, at the price of one scan for all who look. To be closed. */
export function createSharedGpus(options: SharedGpusOptions): GpuProvider {
	const shared = new ScanViewer(options);
	let underWay: Promise<Observation> | undefined;
	const lookOnce = async (): Promise<Observation> => {
		try {
			return await shared.observe();
		} finally {
			underWay = undefined;
		}
	};

	return {
		name: options.name,
		simulated: options.name === 'fake',
		async count() {
			const scanner = options.createScanner();
			try {
				return await scanner.count();
			} finally {
				await scanner.close?.();
			}
		},
		async observe() {
			underWay ??= lookOnce();
			return underWay;
		},
		close: async () => shared.close(),
	};
}
