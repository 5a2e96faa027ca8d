/** The JSON formats of all stored values, which all stores share. Reads whatever the Go program reads, and writes only what its Lua scripts accept. */
export {decodeAudit, encodeAudit} from './audit.js';
export {decodeEvent, encodeEvent} from './event.js';
export {decodeGpu, encodeFree, encodeLease, encodeShares} from './lease.js';
export {decodeJob, decodeJobIndex, encodeJob, encodeJobIndex} from './job.js';
export {decodeAlerts, encodeAlerts} from './alerts.js';
export {decodeDrains, decodePolicy, encodeDrains, encodePolicy} from './settings.js';
export {mostGpus} from '../../core/model/observation.js';
export {decodeOwner, decodePool, earlyProvider, encodePool, poolGarbage, type PoolOwner, type RawPool} from './pool.js';
export {decodeQueueEntry, encodeQueueEntry} from './queue-entry.js';
export {bytesOf, rawOf, wireOf} from './json/raw.js';
export {decodeRevision, encodeNextRevision} from './revision.js';
export {decodeUsage, encodeUsage, usageNeedles} from './usage.js';
