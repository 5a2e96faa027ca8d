--[[
One atomic read of everything. Decodes no JSON.

KEYS  a change, if somebody asks about one
ARGV  1 "1" when the queue is not asked for  2... texts that a usage record of the asking user holds one of

The GPU and entry keys depend on what is read, so they cannot be declared: this is for one server, not for a cluster. script.ts puts
keys and limits in the place of CONSTANT and a name.

Result  { seconds, microseconds, gpu_count, provider, machine, { GPU... }, { id... }, { entry... }, { usage record... },
          drains, alerts, revision, policy, the change's attempt }
A value is its string; false when there is none; { its type } when it is no string.
In place of the ids stands a type when the queue is no sorted set.
The usage records are the user's newest of each GPU, newest first.
]]

local function value(key)
  local found = redis.pcall('GET', key)
  if type(found) == 'table' then
    return { redis.call('TYPE', key).ok }
  end
  return found
end

-- All at once. What is of another type looks to MGET as if it were absent.
local function values(keys)
  local found = redis.call('MGET', unpack(keys))
  local absent = {}
  for place, key in ipairs(keys) do
    if not found[place] then
      absent[#absent + 1] = key
    end
  end
  if absent[1] and redis.call('EXISTS', unpack(absent)) > 0 then
    for place, key in ipairs(keys) do
      found[place] = value(key)
    end
  end
  return found
end

local time = redis.call('TIME')
local fixed = values({
  CONSTANT.gpuCount, CONSTANT.provider, CONSTANT.machine, CONSTANT.drains, CONSTANT.alerts, CONSTANT.revision, CONSTANT.policy
})
local count = fixed[1]

local gpus = {}
local size = type(count) == 'string' and tonumber(string.match(count, '^%d+$')) or 0
if size > 0 and size <= CONSTANT.mostGpus then
  local keys = {}
  for index = 0, size - 1 do
    keys[index + 1] = CONSTANT.gpuPrefix .. index
  end
  gpus = values(keys)
end

local queue = ARGV[1] == '1' and CONSTANT.nothing or CONSTANT.queue
local ids = redis.pcall('ZRANGE', queue, 0, -1)
local entries = {}
if ids.err then
  ids = redis.call('TYPE', queue).ok
else
  for place, id in ipairs(ids) do
    entries[place] = value(CONSTANT.entryPrefix .. id)
  end
end

local usage = {}
if #ARGV > 1 then
  local records = redis.pcall('ZREVRANGE', CONSTANT.history, 0, CONSTANT.recentCount - 1)
  local find, match, byte, gpu_name, comma = string.find, string.match, string.byte, '"gpu_id":', 44
  local seen = {}
  -- A history of another type is an error reply, which has no items: then there is simply no last use to tell.
  for _, record in ipairs(records) do
    for needle = 2, #ARGV do
      local _, last = find(record, ARGV[needle], 1, true)
      if last then
        -- It follows the user in every record that is written; the search from there is the shorter one. What is looked for as it
        -- stands is found many times faster than by a pattern.
        local _, before = find(record, gpu_name, last, true)
        if not before then
          _, before = find(record, gpu_name, 1, true)
        end
        if before then
          -- A pattern takes longer than all the rest, and most boxes have no GPU 10.
          local digit, after = byte(record, before + 1, before + 2)
          local gpu = after == comma and digit or match(record, '^%d+', before + 1)
          if gpu and not seen[gpu] then
            seen[gpu] = true
            usage[#usage + 1] = record
          end
        end
        break
      end
    end
  end
end

return {
  tonumber(time[1]), tonumber(time[2]), count, fixed[2], fixed[3], gpus, ids, entries, usage, fixed[4], fixed[5],
  fixed[6], fixed[7], KEYS[1] and value(KEYS[1])
}
