--[[
Reads the shared scan and the server's clock.

KEYS  1 scan: "SECONDS TEXT"
ARGV  1 index of the last byte to read

Result  { seconds, microseconds, the scan or false }
]]

local time = redis.call('TIME')
local posted = redis.pcall('GETRANGE', KEYS[1], 0, ARGV[1])
return { tonumber(time[1]), tonumber(time[2]), type(posted) == 'string' and posted }
