--[[
Takes the role of the one who scans, or keeps it.

KEYS  1 scanner: "INTERVAL_MS OWNER"
ARGV  1 owner  2 its interval in ms  3 for how many ms

Result  1, or 0 while somebody else has it who scans as often
]]

-- A Redis before 5 takes no change from a script that was told the time, or how much is left of it, unless it passes on each change and not the script.
if redis.replicate_commands then
  redis.replicate_commands()
end

local held = redis.pcall('GET', KEYS[1])
-- What is no role, or would never end, belongs to no one.
if type(held) == 'string' and redis.call('PTTL', KEYS[1]) >= 0 then
  local interval, owner = string.match(held, '^(%d+) (.+)$')
  if owner and owner ~= ARGV[1] and tonumber(interval) <= tonumber(ARGV[2]) then
    return 0
  end
end
redis.call('SET', KEYS[1], ARGV[2] .. ' ' .. ARGV[1], 'PX', ARGV[3])
return 1
