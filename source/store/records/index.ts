/**
The JSON forms of everything that is stored, the same in every store. A reader is lenient where the Go peer is; a writer is
strict where the peer's Lua is.
*/
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
