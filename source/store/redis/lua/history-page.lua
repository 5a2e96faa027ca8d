--[[
A page of the usage history, oldest first. Decodes no JSON.

KEYS  1 usage history
ARGV  1 first score  2 last score  3 how many of the first score to pass over  4 most records

Result  { score of the last record, how many of that score have been read by now, the records with a NUL between them }, or {}
]]

local page = redis.call('ZRANGEBYSCORE', KEYS[1], ARGV[1], ARGV[2], 'LIMIT', ARGV[3], ARGV[4])
if #page == 0 then
  return {}
end
local score = redis.call('ZSCORE', KEYS[1], page[#page])
local read = redis.call('ZRANK', KEYS[1], page[#page]) + 1 - redis.call('ZCOUNT', KEYS[1], '-inf', '(' .. score)
-- One string: a reply of many is the slowest part of reading a long history. JSON has no NUL.
return { score, read, table.concat(page, '\0') }
