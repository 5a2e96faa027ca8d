--[[
Reads the whole pool atomically. Decodes no JSON.

KEYS  1 the key of a change, if the executed attempt of a change is to be read
ARGV  1 "1" to omit the queue  2 a user whose last uses are to be read  3... texts of which one occurs in each usage record of this user

The keys of GPUs and entries depend on other values, so they cannot be declared. The script therefore needs a single server and no cluster.
script.ts replaces CONSTANT and the name after it with the value of a key or a limit.

Result  { seconds, microseconds, gpu_count, provider, machine, { GPU... }, { id... }, { entry... }, { usage record... },
          drains, alerts, revision, policy, last use, the change's attempt }
A value is its string, false if there is none, or { its type } if it is not a string.
If the queue is not a sorted set, its type is returned instead of the ids.
The last use is { SECOND, "GPU END GPU END ..." } if these times are stored and complete. Uses that ended before SECOND are to be ignored, because
they are not among the newest records of the history. Otherwise the last use is false, and the usage records are the user's newest for each GPU.
]]

-- Reads all values with one command. MGET also returns nothing for a key of another type, so keys without a value are then read one by one.
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

-- Returns the user's last uses as stored by commit.lua, and the end of the oldest of the `recentCount` newest usage records. Uses before that end do
-- not count. Returns false if the stored uses may not cover all of these records.
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
  -- If the history has another type, `records` is an error reply, which has no items. No last use is then returned.
  for _, record in ipairs(records) do
    for needle = 3, #ARGV do
      local _, last = find(record, ARGV[needle], 1, true)
      if last then
        -- In records of this program, the GPU follows the user, so the search begins there. Searching plain text is many times faster than a pattern.
        local _, before = find(record, gpu_name, last, true)
        if not before then
          _, before = find(record, gpu_name, 1, true)
        end
        if before then
          -- Reads the id without a slow pattern. Most machines have no GPU 10, so the id is usually a single digit.
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
