--[[
Moves usage records from keys of their own into the history: each is there or here, at every moment, and never in both.

KEYS  1 usage history  2... a key for each record
ARGV  for each of those keys: the record it held when it was read, and its score

Result  how many were moved; a key that holds something else by now stays
]]

local moved = 0
for place = 2, #KEYS do
  local record = ARGV[2 * place - 3]
  if redis.call('GET', KEYS[place]) == record then
    redis.call('ZADD', KEYS[1], ARGV[2 * place - 2], record)
    redis.call('DEL', KEYS[place])
    moved = moved + 1
  end
end
if moved > 0 then
  -- The peer lets the whole history expire 90 days after its last record.
  redis.call('PERSIST', KEYS[1])
end
return moved
