/** `GET /api/held-use`: what was reserved over the last hours against what was used. */
export type {HeldUseJson} from '../../format/tables/held-use.js';
