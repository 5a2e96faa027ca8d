import type {Tool} from '../tool.js';
import {cancel, job, logs} from './jobs.js';
import {queue, why} from './queue.js';
import {release} from './release.js';
import {renew} from './renew.js';
import {report} from './report.js';
import {reserve} from './reserve.js';
import {run} from './run.js';
import {status} from './status.js';

export const tools: readonly Tool[] = [status, reserve, renew, release, queue, why, report, run, job, logs, cancel];
