/** The dashboard on a real Slurm: nodes, jobs, the queue with reasons, and only actions that Slurm supports. */
import {describe, expect, onTestFinished, test} from 'vitest';
import {start} from '../../_helpers/program/processes.js';
import {askJson, startWeb} from '../../web/_server.js';
import {browserForAll, chromiumProgram, expectFits, openPage, accessProblems} from '../../web/page/_browser.js';
import {createRuntimeDirectory, startMine, startTunnel} from '../../web/mine/_mine.js';
import {clusterOfFile} from './_cluster.js';

const {slurm, box} = clusterOfFile();

describe.skipIf(chromiumProgram === undefined)('the dashboard on Slurm in Chromium', () => {
	const browser = browserForAll();

	test('shows nodes, jobs and the queue, and suggests only supported commands', async () => {
		slurm().run('salloc', '--no-shell', '--gres=gpu:4', '--nodelist=box1', '--comment=the big one');
		slurm().run('salloc', '--no-shell', '--gres=gpu:3', '--nodelist=box2', '--time=60');
		slurm().run('scontrol', 'update', 'NodeName=box3', 'State=DRAIN', 'Reason=fan is dead');
		const waiter = start(box(), 'reserve -g 4');
		onTestFinished(async () => {
			waiter.kill('SIGKILL');
			await waiter.ended;
		});
		await waiter.says(/^Waiting for 4 GPUs/mv);
		const web = await startWeb(box());
		onTestFinished(async () => {
			await web.end('SIGKILL');
		});
		const {page, problems} = await openPage(browser, web.url, {theme: 'light', isMotionReduced: true});
		const card = (gpu: number) => page.locator(`li.gpu[data-gpu="${gpu}"]`);
		await page.locator('#badges', {hasText: 'Slurm'}).waitFor();
		const textOf = async (gpu: number): Promise<string> =>
			(await card(gpu).locator('.card').innerText()).replaceAll(/\s+/gv, ' ');
		expect(await textOf(0)).toMatch(/^GPU 0 Reserved root for [\d ms]+ the big one Use – Memory – GPU 0 of box1$/v);
		expect(await textOf(6)).toMatch(/Reserved.*left.*GPU 2 of box2$/v);
		expect(await textOf(7)).toMatch(/Free Nobody Use – Memory – GPU 3 of box2$/v);
		expect(await textOf(9)).toMatch(/Drained Out of service for \d+s fan is dead, by root Use – /v);
		const waiting = page.locator('#queue');
		await waiting.getByText(/^waited .* · no GPUs free yet$/v).waitFor();
		expect(await waiting.innerText()).toContain('has 0 of 4 GPUs');
		// The read-only page has no buttons.
		expect(await page.getByRole('button', {name: /^(?:Reserve|Release|Extend|Leave)/v}).count()).toBe(0);
		await expectFits(page, 'overview');
		expect(await accessProblems(page, {})).toEqual([]);

		await page.goto(`${web.url}#/gpu/0`);
		const drawer = page.getByRole('dialog');
		await drawer
			.getByText('The processes on the GPUs of box1 and their utilization cannot be read from here.')
			.waitFor();
		const job = /canhazgpu release --lease (?<job>\d+)/v.exec(await drawer.innerText())?.groups?.['job'];
		expect(await drawer.locator('code').allTextContents()).toEqual([
			`canhazgpu release --lease ${job}`,
			`scontrol show job ${job}`,
			'canhazgpu reserve --gpus 1 --on box1',
		]);
		expect(await drawer.locator('.chart-head h4, canvas').count()).toBe(0);
		expect(await accessProblems(page, {})).toEqual([]);
		await page.goto(`${web.url}#/gpu/9`);
		await drawer.getByText('scontrol update NodeName=box3 State=RESUME').waitFor();

		await page.goto(`${web.url}#/report`);
		await page.getByText('The report is unavailable: Slurm accounting is off').waitFor();
		expect(await page.getByText('Reserved and used').count()).toBe(0);
		expect(problems.filter((problem) => !problem.includes('503'))).toEqual([]);

		// The drawer contains only commands that work with Slurm.
		slurm().run('scontrol', 'update', 'NodeName=box3', 'State=RESUME');
		expect(await box().run(`release --lease ${job}`)).toMatchObject({exitCode: 0, stderr: ''});
		await page.goto(`${web.url}#/`);
		await waiting.getByText('Nobody waits.').waitFor();
		await card(0).getByText('the big one').waitFor({state: 'detached'});
		expect((await waiter.ended).exitCode).toBe(0);
		const [first] = await askJson<readonly unknown[]>(web.port, '/api/status');
		expect(first).toMatchObject({node: 'box1', node_gpu_id: 0});
	});

	test('offers actions for a number of GPUs and for whole jobs, but not for chosen GPUs', async () => {
		const runtime = createRuntimeDirectory();
		const mine = await startMine(box(), runtime.directory);
		const tunnel = await startTunnel(mine.socketPath);
		onTestFinished(async () => {
			tunnel.close();
			await mine.end('SIGKILL');
			runtime.remove();
		});
		const {page, problems} = await openPage(browser, `${tunnel.url}#token=${mine.linkToken}`);
		await page.locator('.act-words', {hasText: 'This page acts as'}).waitFor();
		const dialog = page.locator('dialog[open]');
		// Slurm chooses the GPUs, so no free GPU has a button.
		await page.locator('li.gpu[data-gpu="11"]').waitFor();
		expect(await page.getByRole('button', {name: /^Reserve/v}).count()).toBe(1);
		await page.getByRole('button', {name: 'Reserve any GPUs'}).click();
		expect(await dialog.getByLabel('GPUs', {exact: true}).getAttribute('placeholder')).toBe('1-4');
		await dialog.getByLabel('GPUs', {exact: true}).fill('2');
		await page.keyboard.press('Enter');
		await page.locator('.act-done').getByText('Reserved GPUs 0,1 for 8h').waitFor();
		await page.getByRole('button', {name: 'Release GPU 1'}).click();
		await dialog.getByText('Release GPUs 0,1').waitFor();
		await dialog.getByText('The whole job and everything that runs in it ends.').waitFor();
		expect(await dialog.locator('code').textContent()).toBe('canhazgpu release --gpu-ids 0,1');
		await dialog.getByRole('button', {name: 'Release', exact: true}).click();
		await page.locator('.act-done').getByText('Released GPUs 0,1').waitFor();
		expect(slurm().run('squeue', '--noheader')).toBe('');
		expect(problems).toEqual([]);
	});
});
