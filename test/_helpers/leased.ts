import type {GpuRecord} from '../../source/core/model/types.js';

/** True for a GPU that one lease has alone. */
export const isLeased = (record: GpuRecord): record is Extract<GpuRecord, {kind: 'leased'}> => record.kind === 'leased';
