--[[
Copies usage records from keys of their own into the history. Their keys stay as they are; a record that is copied twice is there once.

KEYS  1 usage history  2... a key for each record
ARGV  for each of those keys: the record it held when it was read, and its score

Result  how many were copied; a key that holds something else by now is passed over
]]

local copied = 0
for position = 2, #KEYS do
  local record = ARGV[2 * position - 3]
  if redis.call('GET', KEYS[position]) == record then
    redis.call('ZADD', KEYS[1], ARGV[2 * position - 2], record)
    copied = copied + 1
  end
end
if copied > 0 then
  -- The peer lets the whole history expire 90 days after its last record.
  redis.call('PERSIST', KEYS[1])
end
return copied
