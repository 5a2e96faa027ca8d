import {readFileSync} from 'node:fs';
import {fileURLToPath} from 'node:url';
import {defineConfig, type Plugin} from 'vitest/config';

/**
Gives `.lua` files to the tests as text, as the bundler does for the program.
*/
const luaAsText: Plugin = {
	name: 'lua-as-text',
	enforce: 'pre',
	load: (id) => (id.endsWith('.lua') ? `export default ${JSON.stringify(readFileSync(id, 'utf8'))};` : undefined),
};

export default defineConfig({
	plugins: [luaAsText],
	root: fileURLToPath(new URL('..', import.meta.url)),
	test: {
		include: ['test/**/*.test.{ts,tsx}'],
		globalSetup: ['test/_helpers/global-setup.ts'],
		testTimeout: 30_000,
		hookTimeout: 60_000,
		coverage: {
			provider: 'v8',
			include: ['source/core/**'],
			reporter: ['text-summary', 'text'],
			thresholds: {lines: 95},
		},
	},
});
