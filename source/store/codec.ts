/**
The JSON forms of everything that is stored, the same in every store. A reader is lenient where the Go peer is; a writer is
strict where the peer's Lua is.
*/
export {decodeAudit, encodeAudit} from './codec/audit.js';
export {decodeDrains, encodeDrains} from './codec/drains.js';
export {decodeEvent, encodeEvent} from './codec/event.js';
export {decodeGpu, encodeFree, encodeLease} from './codec/lease.js';
export {decodeDataLoss, decodeNotices, encodeNotices} from './codec/notices.js';
export {decodePool, encodePool, mostGpus, poolGarbage, type RawPool} from './codec/pool.js';
export {decodeQueueEntry, encodeQueueEntry} from './codec/queue-entry.js';
export {bytesOf, rawOf, wireOf} from './codec/raw.js';
export {decodeRevision, encodeNextRevision} from './codec/revision.js';
export {decodeUsage, encodeUsage, usageNeedles} from './codec/usage.js';
