#!/usr/bin/env node
import process from 'node:process';
import {keepCompiledCode} from './compile-cache.js';
import {main} from './main.js';

keepCompiledCode();
process.exitCode = await main(process.argv.slice(2));
