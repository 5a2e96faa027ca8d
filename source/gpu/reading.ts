import type {GpuReading} from '../core/types.js';

/**
A GPU as its own table tells it: the processes stand in another one.
*/
export type BareReading = Omit<GpuReading, 'processes'>;
