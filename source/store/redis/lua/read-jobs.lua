--[[
Reads the records of detached jobs atomically. Decodes no JSON.

ARGV  the numbers of the wanted jobs

Result  { seconds, microseconds, index, { record... } }
A value is its string, false if there is none, or { its type } if it is not a string.
]]

local function value(key)
  local found = redis.pcall('GET', key)
  if type(found) == 'table' then
    return { redis.call('TYPE', key).ok }
  end
  return found
end

local time = redis.call('TIME')
local records = {}
for position, number in ipairs(ARGV) do
  records[position] = value(CONSTANT.jobPrefix .. number)
end

return { tonumber(time[1]), tonumber(time[2]), value(CONSTANT.jobs), records }
