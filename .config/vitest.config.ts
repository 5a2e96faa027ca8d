import {globSync, readFileSync} from 'node:fs';
import {availableParallelism} from 'node:os';
import {fileURLToPath} from 'node:url';
import {defineConfig, type Plugin} from 'vitest/config';
import {patienceMs} from '../test/_helpers/eventually.js';
import {bundlePage, pageModule} from './page.js';

/** Imports these files as text, as the bundler does. */
const filesAsText: Plugin = {
	name: 'files-as-text',
	enforce: 'pre',
	load: (id) =>
		/\.(?:bash|fish|zsh|lua|md)$/v.test(id) ? `export default ${JSON.stringify(readFileSync(id, 'utf8'))};` : undefined,
};

/** Bundles the dashboard's page as the build does. */
const bundledPage: Plugin = {
	name: 'bundled-page',
	enforce: 'pre',
	load: async (id) =>
		pageModule.test(id) ? `export default ${JSON.stringify((await bundlePage()).files)};` : undefined,
};

/** Tests that take minutes. They run with `--mode long`. */
const longTests = 'test/long/**/*.test.{ts,tsx}';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Test files with long tests, which call `slowTest` instead of `test`. */
const partlyLongTests = (): readonly string[] =>
	globSync('test/**/*.test.{ts,tsx}', {cwd: root}).filter((file) =>
		readFileSync(`${root}${file}`, 'utf8').includes('/_helpers/slow.js'),
	);

export default defineConfig(({mode}) => ({
	plugins: [filesAsText, bundledPage],
	root,
	// The tests use React's production build, as the program does, because it takes half the time. Long tests use the development build for its warnings.
	oxc: {jsx: {development: mode === 'long'}},
	test: {
		include: mode === 'long' ? [longTests, ...partlyLongTests()] : ['test/**/*.test.{ts,tsx}'],
		env: {
			LONG_TESTS: mode === 'long' ? '1' : '',
			...(mode !== 'long' && {NODE_ENV: 'production'}),
			// Without these, Ink starts `tput` for each render of a component.
			COLUMNS: '80',
			LINES: '24',
		},
		exclude: ['**/node_modules/**', ...(mode === 'long' ? [] : [longTests])],
		globalSetup: ['test/_helpers/global-setup.ts'],
		// The tests often wait for processes. So two more files run at once than there are processors.
		maxWorkers: Math.max(2, Math.min(availableParallelism() + 2, 8)),
		// With a process for each test file, each would load the same modules again.
		isolate: false,
		// Only a test that hangs takes that long.
		testTimeout: 300_000,
		hookTimeout: 300_000,
		// A missing snapshot fails its test. `--update` writes it.
		update: 'none',
		expect: {poll: {timeout: patienceMs}},
		coverage: {
			provider: 'v8',
			include: ['source/core/**'],
			reporter: ['text-summary', 'text'],
			thresholds: {lines: 95},
		},
	},
}));
