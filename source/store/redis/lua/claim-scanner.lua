--[[
Takes or renews the role of the viewer that scans for all viewers.

KEYS  1 scanner: "INTERVAL_MS OWNER"
ARGV  1 owner  2 scan interval of the owner in ms  3 for how many ms the role is taken

Result  1, or 0 while another viewer has the role and scans at least as often
]]

-- In Redis before 5, a script that has read the time or a key's time to live may only write if its writes are replicated instead of the script.
if redis.replicate_commands then
  redis.replicate_commands()
end

local held = redis.pcall('GET', KEYS[1])
-- A value that is not a role, or that never expires, is overwritten.
if type(held) == 'string' and redis.call('PTTL', KEYS[1]) >= 0 then
  local interval, owner = string.match(held, '^(%d+) (.+)$')
  if owner and owner ~= ARGV[1] and tonumber(interval) <= tonumber(ARGV[2]) then
    return 0
  end
end
redis.call('SET', KEYS[1], ARGV[2] .. ' ' .. ARGV[1], 'PX', ARGV[3])
return 1
