import type {World} from '../../../core/model/ports.js';
import {readStatus} from '../../../core/operations/reservations.js';
import {statusJson} from '../../../format/json/status-json.js';
import type {JsonRow} from '../../../format/tables/host-tables.js';

export async function localRows(world: World): Promise<readonly JsonRow[]> {
	const {rows, observation} = await readStatus(world);
	return statusJson(rows, observation);
}
