--[[
Copies usage records, each stored under its own key, into the history. The old keys stay. A record that is copied twice is in the history only once.

KEYS  1 usage history  2... a key for each record
ARGV  for each of these keys: the record as it was read, and its score

Result  the number of copied records. A key whose value has changed since the read is skipped.
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
  -- Removes the expiry: the Go program lets the whole history expire 90 days after its last record.
  redis.call('PERSIST', KEYS[1])
end
return copied
