/**
A file of its own, so that YAML's parser loads only where there is a YAML file. (Imported directly and lazily, the bundle would
find none of its names: it is CommonJS.)
*/
export {parse} from 'yaml';
