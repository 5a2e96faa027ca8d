import process from 'node:process';
import {keepCompiledCode} from './app/start-up/compile-cache.js';
import {keepDebuggerClosed} from './app/start-up/debugger.js';

keepDebuggerClosed();
keepCompiledCode();
try {
	const argv = process.argv.slice(2);
	// The version is printed without loading the rest of the program, because scripts often ask for it.
	const asksForVersion = argv.length === 1 && (argv[0] === '--version' || argv[0] === '-v');
	const {printVersion} = asksForVersion ? await import('./app/start-up/version.js') : {};
	if (!printVersion?.()) {
		const {main} = await import('./main.js');
		process.exitCode = await main(argv);
	}
} catch (error) {
	// An update or a removal can delete files of the running program that it has not loaded yet. Therefore, nothing can be imported at this point.
	const {code, path: file = ''} = error as NodeJS.ErrnoException;
	if (code !== 'ERR_MODULE_NOT_FOUND' && !(code === 'ENOENT' && /\/chunks\/[^\/]+\.js$/v.test(file))) {
		throw error;
	}

	process.stderr.write('Error: The program was replaced or removed while this command was running\nRun it again.\n');
	process.exitCode = 1;
}
