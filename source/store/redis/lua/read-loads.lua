--[[
KEYS  the texts of some hours
ARGV  1 the most bytes of each

Result  { text or false for each }: false for one that is longer, or no text
]]

local texts = {}
for position, key in ipairs(KEYS) do
  local length = redis.pcall('STRLEN', key)
  texts[position] = type(length) == 'number' and length <= tonumber(ARGV[1]) and redis.call('GET', key)
end
return texts
