import type {GpuRecord} from '../../source/core/model/types.js';

/** Whether one lease has the GPU alone. */
export const isLeased = (record: GpuRecord): record is Extract<GpuRecord, {kind: 'leased'}> => record.kind === 'leased';
