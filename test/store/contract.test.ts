import {contract} from './contract.js';
import {harnesses} from './harness.js';

for (const [kind, makeHarness] of Object.entries(harnesses)) {
	contract(kind, makeHarness);
}
