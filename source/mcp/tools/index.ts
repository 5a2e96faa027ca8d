import type {Tool} from '../tool.js';
import {queue, why} from './queue.js';
import {release} from './release.js';
import {renew} from './renew.js';
import {report} from './report.js';
import {reserve} from './reserve.js';
import {status} from './status.js';

export const tools: readonly Tool[] = [status, reserve, renew, release, queue, why, report];
