--[[
Gives the role of the one who scans up.

KEYS  1 scanner: "INTERVAL_MS OWNER"
ARGV  1 owner

Result  1, or 0 when it is somebody else's
]]

local held = redis.pcall('GET', KEYS[1])
if type(held) ~= 'string' or string.match(held, '^%d+ (.+)$') ~= ARGV[1] then
  return 0
end
redis.call('DEL', KEYS[1])
return 1
