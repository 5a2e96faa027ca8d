--[[
One atomic read of everything. Decodes no JSON.

KEYS  a change, if somebody asks about one
ARGV  1 "1" when the queue is not asked for  2 the asking user, and 3... texts that a usage record of this user holds one of

The GPU and entry keys depend on what is read, so they cannot be declared: this is for one server, not for a cluster. script.ts puts
keys and limits where CONSTANT and a name stand.

Result  { seconds, microseconds, gpu_count, provider, machine, { GPU... }, { id... }, { entry... }, { usage record... },
          drains, alerts, revision, policy, last use, the change's attempt }
A value is its string; false when there is none; { its type } when it is no string.
Instead of the ids stands a type when the queue is no sorted set.
The last use is { SECOND, "GPU END GPU END ..." }, where that is kept and whole: only what ended from that second on counts, which are
the newest records of the history. False where it is not; then the usage records are the user's newest of each GPU, newest first.
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
  for position, key in ipairs(keys) do
    if not found[position] then
      absent[#absent + 1] = key
    end
  end
  if absent[1] and redis.call('EXISTS', unpack(absent)) > 0 then
    for position, key in ipairs(keys) do
      found[position] = value(key)
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
  for position, id in ipairs(ids) do
    entries[position] = value(CONSTANT.entryPrefix .. id)
  end
end

-- The second at which the newest records begin, and the user's last uses since, where commit.lua kept them up with all of those.
local function last_use(user)
  local kept = redis.pcall('HMGET', CONSTANT.lastUse, 'count', 'since', 'user ' .. user)
  if not kept[1] or kept[1] ~= tostring(redis.pcall('ZCARD', CONSTANT.history)) then
    return false
  end
  local rank = CONSTANT.recentCount - 1
  local from = redis.pcall('ZREVRANGE', CONSTANT.history, rank, rank, 'WITHSCORES')[2] or '0'
  return tonumber(from) > tonumber(kept[2]) and { from, kept[3] or '' }
end

local usage = {}
local kept_use = ARGV[2] and last_use(ARGV[2])
if ARGV[2] and not kept_use then
  local records = redis.pcall('ZREVRANGE', CONSTANT.history, 0, CONSTANT.recentCount - 1)
  local find, match, byte, gpu_name, comma = string.find, string.match, string.byte, '"gpu_id":', 44
  local seen = {}
  -- A history of another type is an error reply, which has no items: then there is simply no last use to tell.
  for _, record in ipairs(records) do
    for needle = 3, #ARGV do
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
  fixed[6], fixed[7], kept_use or false, KEYS[1] and value(KEYS[1])
}
