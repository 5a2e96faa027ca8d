-- The start of the scripts that read values. Returns a string, false if there is none, or { its type } if the value is not a string.
local function value(key)
  local found = redis.pcall('GET', key)
  if type(found) == 'table' then
    return { redis.call('TYPE', key).ok }
  end
  return found
end
