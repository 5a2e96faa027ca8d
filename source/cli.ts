#!/usr/bin/env node
import process from 'node:process';
import {keepCompiledCode} from './app/start-up/compile-cache.js';
import {keepDebuggerClosed} from './app/start-up/debugger.js';
import {takeInherited} from './host/inherited/inherited.js';

takeInherited();
keepDebuggerClosed();
keepCompiledCode();
const {main} = await import('./main.js');
process.exitCode = await main(process.argv.slice(2));
