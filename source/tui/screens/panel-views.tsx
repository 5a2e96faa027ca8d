import type {ComponentType} from 'react';
import type {PanelId} from '../layout.js';
import {DetailPanel} from '../panels/detail/detail-panel.js';
import {EventsPanel} from '../panels/events.js';
import {GpusPanel} from '../panels/gpus/gpus-panel.js';
import {HostsPanel} from '../panels/hosts/hosts-panel.js';
import {JobsPanel} from '../panels/jobs/jobs-panel.js';
import {LoadsPanel} from '../panels/loads.js';
import {ProcessesPanel} from '../panels/processes/processes-panel.js';
import {QueuePanel} from '../panels/queue/queue-panel.js';
import {ReportPanel} from '../panels/report.js';
import type {PanelProperties} from '../panels/shared/panel-frame.js';

export const panelViews: Readonly<Record<PanelId, ComponentType<PanelProperties>>> = {
	gpus: GpusPanel,
	detail: DetailPanel,
	queue: QueuePanel,
	report: ReportPanel,
	events: EventsPanel,
	processes: ProcessesPanel,
	hosts: HostsPanel,
	jobs: JobsPanel,
	loads: LoadsPanel,
};
