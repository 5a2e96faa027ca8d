--[[
Gives up the role of the viewer that scans for all viewers.

KEYS  1 scanner: "INTERVAL_MS OWNER"
ARGV  1 owner

Result  1, or 0 if another viewer has the role
]]

local held = redis.pcall('GET', KEYS[1])
if type(held) ~= 'string' or string.match(held, '^%d+ (.+)$') ~= ARGV[1] then
  return 0
end
redis.call('DEL', KEYS[1])
return 1
