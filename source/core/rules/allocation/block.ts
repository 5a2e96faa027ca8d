/** Why a GPU, or an instance of one, is not to be had. */
import type {Drain, QueueEntry} from '../../model/types.js';
import type {UsageBlock} from '../usage/usage-block.js';
import type {Quality} from './need.js';
import type {GpuBlock} from './gpu-candidate.js';

/** Why a GPU cannot be handed out now. */
export type Block =
	| UsageBlock
	| GpuBlock
	/** Out of service: not even by force. */
	| {readonly kind: 'drained'; readonly drain: Drain}
	/** Kept for somebody who waits. */
	| {readonly kind: 'queued'; readonly entry: QueueEntry}
	/** Whether it has what is needed is unknown. */
	| {readonly kind: 'unknown-quality'; readonly quality: Quality};

/** `instance`: of the GPU, this one, such as `0:1`. Absent: the GPU itself. */
export type BlockedGpu = {readonly index: number; readonly instance?: string; readonly block: Block};

export type UnusableGpu = {readonly index: number; readonly instance?: string; readonly block: UsageBlock};
