--[[
Adds a line to the load history of an hour.

KEYS  1 the text of the hour
ARGV  1 line  2 for how many seconds the text is kept  3 maximum length of the text in bytes

Result  1, or 0 if the text is full
]]

local length = redis.pcall('STRLEN', KEYS[1])
if type(length) ~= 'number' then
  -- The key has another type, so this program has not written it.
  redis.call('DEL', KEYS[1])
  length = 0
end
if length + #ARGV[1] > tonumber(ARGV[3]) then
  return 0
end
redis.call('APPEND', KEYS[1], ARGV[1])
redis.call('EXPIRE', KEYS[1], ARGV[2])
return 1
