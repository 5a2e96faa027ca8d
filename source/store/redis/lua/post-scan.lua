--[[
Replaces the shared scan, adds the time of the server's clock, and notifies the viewers that listen.

KEYS  1 scanner: "INTERVAL_MS OWNER"  2 scan: "SECONDS TEXT"
ARGV  1 owner  2 text  3 for how many seconds the scan is kept  4 channel

Result  1, or 0 if another viewer has the role of the scanner
]]

-- In Redis before 5, a script that has read the time may only write if its writes are replicated instead of the script.
if redis.replicate_commands then
  redis.replicate_commands()
end

local held = redis.pcall('GET', KEYS[1])
if type(held) ~= 'string' or string.match(held, '^%d+ (.+)$') ~= ARGV[1] then
  return 0
end
local time = redis.call('TIME')
redis.call('SET', KEYS[2], string.format('%d.%06d ', time[1], time[2]) .. ARGV[2], 'EX', ARGV[3])
redis.pcall('PUBLISH', ARGV[4], '')
return 1
