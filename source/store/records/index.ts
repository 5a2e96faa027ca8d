/** The JSON formats of all stored values, the same in every store. Readers are as lenient as the Go program, writers as strict as its Lua scripts. */
export {decodeAudit, encodeAudit} from './audit.js';
export {decodeEvent, encodeEvent} from './event.js';
export {decodeGpu, encodeFree, encodeLease, encodeShares} from './lease.js';
export {decodeAlerts, encodeAlerts} from './alerts.js';
export {decodeDrains, decodePolicy, encodeDrains, encodePolicy} from './settings.js';
export {mostGpus} from '../../core/model/observation.js';
export {decodePool, earlyProvider, encodePool, poolGarbage, type RawPool} from './pool.js';
export {decodeQueueEntry, encodeQueueEntry} from './queue-entry.js';
export {bytesOf, rawOf, wireOf} from './json/raw.js';
export {decodeRevision, encodeNextRevision} from './revision.js';
export {decodeUsage, encodeUsage, usageNeedles} from './usage.js';
