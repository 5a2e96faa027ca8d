import {contract} from './contract.js';
import {memoryHarness, redisHarness, sqliteHarness} from './harness.js';

contract('memory', memoryHarness);
contract('embedded', sqliteHarness);
contract('redis', redisHarness);
