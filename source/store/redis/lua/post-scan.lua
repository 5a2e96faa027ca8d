--[[
Replaces the shared scan, with the time on this clock, and tells those who listen.

KEYS  1 scanner: "INTERVAL_MS OWNER"  2 scan: "SECONDS TEXT"
ARGV  1 owner  2 text  3 for how many seconds it is kept  4 channel

Result  1, or 0 when the role is somebody else's
]]

-- A Redis before 5 takes no change from a script that was told the time, unless it passes on each change and not the script.
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
