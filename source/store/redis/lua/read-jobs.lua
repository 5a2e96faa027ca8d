--[[
Reads the records of detached jobs atomically. Decodes no JSON.

ARGV  the numbers of the wanted jobs

Result  { seconds, microseconds, index, { record... } }
A value is its string, false if there is none, or { its type } if it is not a string.
]]

local time = redis.call('TIME')
local records = {}
for position, number in ipairs(ARGV) do
  records[position] = value(CONSTANT.jobPrefix .. number)
end

return { tonumber(time[1]), tonumber(time[2]), value(CONSTANT.jobs), records }
