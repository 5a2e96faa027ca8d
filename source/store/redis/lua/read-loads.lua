--[[
Reads hours of the load history.

KEYS  the texts of the hours
ARGV  1 maximum length of a text in bytes

Result  for each hour its text, or false if the value is longer or not a text
]]

local texts = {}
for position, key in ipairs(KEYS) do
  local length = redis.pcall('STRLEN', key)
  texts[position] = type(length) == 'number' and length <= tonumber(ARGV[1]) and redis.call('GET', key)
end
return texts
