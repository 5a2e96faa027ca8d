/** The files for Prometheus and Grafana in media/, checked with a real Prometheus that scrapes a demo server. */
import {execFileSync, spawn} from 'node:child_process';
import {once} from 'node:events';
import {existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {fileURLToPath} from 'node:url';
import {afterAll, beforeAll, expect, test} from 'vitest';
import {eventually} from '../_helpers/eventually.js';
import {freePort} from '../_helpers/machine/ssh-server.js';
import {installPackage} from '../_helpers/packages/apt.js';
import {createEmbeddedBox, type Box} from '../_helpers/program/cli.js';
import {ask, startWeb, type Web} from '../web/_server.js';

const media = (name: string): string => fileURLToPath(new URL(`../../media/${name}`, import.meta.url));

type Panel = {readonly title: string; readonly targets?: ReadonlyArray<{readonly expr: string}>};

const {panels} = JSON.parse(readFileSync(media('grafana-dashboard.json'), 'utf8')) as {
	readonly panels: readonly Panel[];
};

/** The query as Grafana would send it, for all boxes. */
const queries = panels.flatMap(({title, targets = []}) =>
	targets.map(({expr}) => ({
		title,
		query: expr.replaceAll('$instance', '.*').replaceAll('$__rate_interval', '15s').replaceAll('$__range', '5m'),
	})),
);

type Answer<Data> = {readonly status: string; readonly error?: string; readonly data: Data};
type Vector = {readonly result: ReadonlyArray<{readonly value: readonly [time: number, value: string]}>};
type Rules = {
	readonly groups: ReadonlyArray<{
		readonly rules: ReadonlyArray<{
			readonly name: string;
			readonly health: string;
			readonly lastError?: string;
			readonly alerts: ReadonlyArray<{readonly annotations: Readonly<Record<string, string>>}>;
		}>;
	}>;
};

let box: Box;
let web: Web;
let directory: string;
let address: string;
let endPrometheus: () => Promise<void>;

beforeAll(async () => {
	if (!existsSync('/usr/bin/prometheus')) {
		installPackage('prometheus');
	}

	box = await createEmbeddedBox(1);
	web = await startWeb(box, ['--demo']);
	directory = mkdtempSync(path.join(tmpdir(), 'chg-prometheus-'));
	const configuration = path.join(directory, 'prometheus.yml');
	writeFileSync(
		configuration,
		[
			'global: {scrape_interval: 1s, evaluation_interval: 1s}',
			`rule_files: ["${media('prometheus-alerts.yml')}"]`,
			'scrape_configs:',
			'  - job_name: canhazgpu',
			`    static_configs: [{targets: ["127.0.0.1:${web.port}"]}]`,
			'',
		].join('\n'),
	);
	const port = await freePort();
	address = `http://127.0.0.1:${port}/api/v1`;
	const prometheus = spawn(
		'/usr/bin/prometheus',
		[
			`--config.file=${configuration}`,
			`--storage.tsdb.path=${path.join(directory, 'data')}`,
			`--web.listen-address=127.0.0.1:${port}`,
		],
		{stdio: 'ignore'},
	);
	const ended = once(prometheus, 'exit');
	endPrometheus = async () => {
		prometheus.kill('SIGKILL');
		await ended;
	};
});

afterAll(async () => {
	await endPrometheus();
	await web.end('SIGKILL');
	box.remove();
	rmSync(directory, {recursive: true, force: true});
});

async function get<Data>(what: string): Promise<Data> {
	const answer = (await (await fetch(`${address}/${what}`)).json()) as Answer<Data>;
	if (answer.status !== 'success') {
		throw new Error(answer.error);
	}

	return answer.data;
}

test('promtool accepts the alert rules and the metrics', async () => {
	expect(execFileSync('promtool', ['check', 'rules', media('prometheus-alerts.yml')], {encoding: 'utf8'})).toContain(
		'SUCCESS',
	);
	const {body} = await ask(web.port, '/metrics');
	expect(execFileSync('promtool', ['check', 'metrics'], {input: body, encoding: 'utf8'})).toBe('');
});

test.each(queries)('the query of the Grafana panel "$title" returns values: $query', async ({query}) => {
	await eventually(async () => {
		const {result} = await get<Vector>(`query?${new URLSearchParams({query}).toString()}`);
		return result.some(({value}) => Number.isFinite(Number(value[1])));
	}, 90_000);
});

test('Prometheus evaluates every alert rule, and the broken GPU of the demo raises its alert', async () => {
	let rules: Rules['groups'][number]['rules'] = [];
	await eventually(async () => {
		const {groups} = await get<Rules>('rules');
		rules = groups.flatMap((group) => group.rules);
		return rules.every(({health}) => health !== 'unknown') && rules.some(({alerts}) => alerts.length > 0);
	});
	expect(rules.map(({name, health, lastError}) => [name, health, lastError])).toEqual(
		rules.map(({name}) => [name, 'ok', undefined]),
	);
	expect(rules.length).toBe(8);
	const broken = rules.find(({name}) => name === 'GpuBroken')!;
	expect(broken.alerts.map(({annotations}) => annotations['summary'])).toEqual([
		expect.stringMatching(/^GPU \d+ of 127\.0\.0\.1:\d+ is broken, unhealthy or cannot be read$/v),
	]);
});
