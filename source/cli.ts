#!/usr/bin/env node
import process from 'node:process';
import {keepCompiledCode} from './compile-cache.js';
import {keepDebuggerClosed} from './debugger.js';
import {takeInherited} from './host/inherited.js';

takeInherited();
keepDebuggerClosed();
keepCompiledCode();
const {main} = await import('./main.js');
process.exitCode = await main(process.argv.slice(2));
