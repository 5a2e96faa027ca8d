--[[
Executes a plan: checks all preconditions, then makes all writes or none. Decodes no JSON.

KEYS  the keys that are compared and written. Arguments refer to a key by its position in KEYS.
ARGV  1 "1" if a free GPU becomes a lease: the Go program's lock is then respected
      2 "1" if the plan must be refused while the server's memory is full
      3 event, or ""  4 the server's run id, or ""
      5 how many keys must have a value, then KEY VALUE for each; how many keys must be absent, then KEY for each
      then the steps, each with a word and its operands:
        once KEY ATTEMPT (the key is also among those that must be absent)
        line whole-or-prefix N ID...
        set KEY VALUE | delete KEY | join KEY ID VALUE | rejoin KEY ID VALUE SCORE | entry KEY ID VALUE | leave KEY ID
        restored COUNT |
        pool COUNT PROVIDER MACHINE-or-empty | usage SECOND RECORD GPU END USER | audit RECORD

Result  "done", or "conflict" or "locked" if nothing was written. Errors, before anything is written:
        WRONGKEY KEY TYPE if a key has the wrong type, NOPERM if a command is not allowed.

script.ts replaces CONSTANT and the name after it with the value of a key or a limit. The revision is "COUNT BASE SECONDS RUN".
]]

-- In Redis before 5, a script that has read the time may only write if its writes are replicated instead of the script.
if redis.replicate_commands then
  redis.replicate_commands()
end

local first_expectation = 5
local commands = {}
local audit_records = {}
local time = redis.call('TIME')
local last_score
local restored_count

local function run_later(...)
  commands[#commands + 1] = { ... }
end

-- Throws if a key exists with another type. Called before the first write, because a later error would leave half of a plan.
local function must_be(key, wanted)
  local found = redis.call('TYPE', key).ok
  if found ~= wanted and found ~= 'none' then
    error({ err = 'WRONGKEY ' .. key .. ' ' .. found })
  end
end

local taken_scores = {}

local function score_text(score)
  return string.format('%.0f', score)
end

-- Returns the score of an entry that joins now: the store's clock in nanoseconds, but always more than the newest score, because the clock can be set
-- back. Scores are doubles, and doubles of this size are 256 apart.
local function next_score()
  if not last_score then
    local newest = redis.call('ZREVRANGE', CONSTANT.queue, 0, 0, 'WITHSCORES')
    last_score = newest[2] and tonumber(newest[2]) or 0
  end
  last_score = math.max(tonumber(time[1]) * 1e9 + tonumber(time[2]) * 1e3, last_score + 1024)
  return score_text(last_score)
end

local function free_score(score)
  while taken_scores[score] or #redis.call('ZRANGEBYSCORE', CONSTANT.queue, score_text(score), score_text(score)) > 0 do
    score = score + 1024
  end
  taken_scores[score] = true
  return score_text(score)
end

local function stands_in_line(id)
  must_be(CONSTANT.queue, 'zset')
  return redis.call('ZSCORE', CONSTANT.queue, id)
end

local revision

-- Lua passes no more than about 8000 values to a function.
local most_keys = 4000

-- Returns the values of the keys. A key that is absent or has another type has the value false.
local function values_of(keys)
  local found = {}
  for first = 1, #keys, most_keys do
    local part = redis.call('MGET', unpack(keys, first, math.min(first + most_keys - 1, #keys)))
    for number = 1, #part do
      found[first + number - 1] = part[number]
    end
  end
  return found
end

local function any_exists(keys)
  for first = 1, #keys, most_keys do
    if redis.call('EXISTS', unpack(keys, first, math.min(first + most_keys - 1, #keys))) > 0 then
      return true
    end
  end
  return false
end

-- Compares the expected values, and reads the revision with the same command. Returns the position of the first step, or false for a conflict. It is
-- also a conflict if a key has another type, or if an attempt of the same change was already executed.
local function compare()
  local at = first_expectation
  local keys, values = { CONSTANT.revision }, {}
  for number = 1, tonumber(ARGV[at]) do
    keys[number + 1] = KEYS[tonumber(ARGV[at + 1])]
    values[number + 1] = ARGV[at + 2]
    at = at + 2
  end
  local found = values_of(keys)
  for number = 2, #keys do
    if found[number] ~= values[number] then
      return false
    end
  end
  revision = found[1]
  at = at + 1
  local absent = {}
  for number = 1, tonumber(ARGV[at]) do
    absent[number] = KEYS[tonumber(ARGV[at + number])]
  end
  if any_exists(absent) then
    return false
  end
  return at + 1 + #absent
end

local uses = {}

-- Compares, checks each step and collects its writes. Returns false for a conflict. Uses a chain of conditions, because a table of functions would be
-- created again for each commit.
local function take_steps()
  local at = compare()
  if not at then
    return false
  end
  while ARGV[at] do
    local word, first, second = ARGV[at], ARGV[at + 1], ARGV[at + 2]
    if word == 'set' then
      run_later('SET', KEYS[tonumber(first)], second)
      at = at + 3
    elseif word == 'once' then
      run_later('SET', KEYS[tonumber(first)], second, 'EX', CONSTANT.changeSeconds)
      at = at + 3
    elseif word == 'line' then
      local length = tonumber(second)
      must_be(CONSTANT.queue, 'zset')
      -- Reads one id more than expected, to see whether the queue is longer.
      local ids = redis.call('ZRANGE', CONSTANT.queue, 0, length)
      for position = 1, length do
        if ids[position] ~= ARGV[at + 2 + position] then
          return false
        end
      end
      if first ~= 'prefix' and #ids ~= length then
        return false
      end
      at = at + 3 + length
    elseif word == 'usage' then
      must_be(CONSTANT.history, 'zset')
      run_later('ZADD', CONSTANT.history, first, second)
      uses[#uses + 1] = { gpu = ARGV[at + 3], ended = ARGV[at + 4], field = 'user ' .. ARGV[at + 5] }
      at = at + 6
    elseif word == 'audit' then
      audit_records[#audit_records + 1] = first
      at = at + 2
    elseif word == 'entry' then
      -- An entry without a position in the queue would never be found.
      if not stands_in_line(second) then
        return false
      end
      run_later('SET', KEYS[tonumber(first)], ARGV[at + 3])
      at = at + 4
    elseif word == 'join' then
      -- A second join would move the entry to the end of the queue.
      if stands_in_line(second) then
        return false
      end
      run_later('ZADD', CONSTANT.queue, next_score(), second)
      run_later('SET', KEYS[tonumber(first)], ARGV[at + 3])
      at = at + 4
    elseif word == 'leave' then
      must_be(CONSTANT.queue, 'zset')
      run_later('ZREM', CONSTANT.queue, second)
      run_later('DEL', KEYS[tonumber(first)])
      at = at + 3
    elseif word == 'delete' then
      run_later('DEL', KEYS[tonumber(first)])
      at = at + 2
    elseif word == 'rejoin' then
      -- The entry gets back its earlier position. If another entry has the same score, that entry stays first.
      if stands_in_line(second) then
        return false
      end
      run_later('ZADD', CONSTANT.queue, free_score(tonumber(ARGV[at + 4])), second)
      run_later('SET', KEYS[tonumber(first)], ARGV[at + 3])
      at = at + 5
    elseif word == 'pool' then
      run_later('SET', CONSTANT.gpuCount, first)
      run_later('SET', CONSTANT.provider, second)
      if ARGV[at + 3] == '' then
        run_later('DEL', CONSTANT.machine)
      else
        run_later('SET', CONSTANT.machine, ARGV[at + 3])
      end
      at = at + 4
    elseif word == 'restored' then
      restored_count = tonumber(first)
      at = at + 2
    else
      error({ err = 'ERR there is no step ' .. word })
    end
  end
  return true
end

-- Returns the revision after this commit. If the server's run has changed since the last commit, the new run begins with the stored count.
local function next_revision()
  local count, base, since, run
  if revision then
    count, base, since, run = string.match(revision, '^(%d+) (%d+) (%d+) (%S*)$')
  end
  count = tonumber(count) or 0
  base = tonumber(base) or 0
  since = since or time[1]
  if not run or (ARGV[4] ~= '' and run ~= ARGV[4]) then
    run = ARGV[4]
    base = count
    since = time[1]
  end
  if restored_count then
    count = math.max(count, restored_count)
    base = restored_count
    since = time[1]
  end
  return string.format('%.0f %.0f %s %s', count + 1, base, since, run)
end

if ARGV[1] == '1' and redis.call('EXISTS', CONSTANT.allocationLock) == 1 then
  return 'locked'
end

-- If memory is full, Redis refuses commands that need memory, but only until a script's first write. A plan that must be refused therefore begins
-- with a command that needs memory. All other plans, such as releases and heartbeats, begin with a deletion and are executed.
if ARGV[2] == '1' then
  run_later('SETRANGE', CONSTANT.nothing, 0, '')
  -- The commands that a later release needs, so that nothing is granted that cannot be released. They change nothing, because the key does not exist.
  run_later('SET', CONSTANT.nothing, '', 'XX')
  run_later('TYPE', CONSTANT.nothing)
  run_later('ZCARD', CONSTANT.nothing)
  run_later('ZADD', CONSTANT.nothing, 'XX', 0, '')
  run_later('PERSIST', CONSTANT.nothing)
  run_later('ZREM', CONSTANT.nothing, '')
end
run_later('DEL', CONSTANT.nothing)
local first_change = #commands + 1

local ok, is_taken = pcall(take_steps)
if not ok then
  return type(is_taken) == 'table' and is_taken or redis.error_reply(tostring(is_taken))
end
if not is_taken then
  return 'conflict'
end

local count_before
if uses[1] then
  count_before = redis.call('ZCARD', CONSTANT.history)
  -- Removes the expiry: the Go program lets the whole history expire 90 days after its last record.
  run_later('PERSIST', CONSTANT.history)
end
-- An empty plan only tests whether the store accepts changes, so it is not counted.
if commands[first_change] or audit_records[1] or restored_count then
  run_later('SET', CONSTANT.revision, next_revision())
end

-- A missing permission would stop the writes halfway, so all permissions are checked first, which Redis can do since version 7.
if redis.acl_check_cmd then
  for _, command in ipairs(commands) do
    if not redis.acl_check_cmd(unpack(command)) then
      return redis.error_reply('NOPERM ' .. command[1] .. ' is not allowed')
    end
  end
end

for _, command in ipairs(commands) do
  redis.call(unpack(command))
end

-- Returns whether every window within the retention period has a usage record. raw-plan.ts explains why.
local function is_gapless(now, age, window)
  for from = now - age, now - 1, window do
    local count = redis.pcall('ZCOUNT', CONSTANT.history, string.format('%.0f', from), string.format('%.0f', from + window))
    if type(count) ~= 'number' or count == 0 then
      return false
    end
  end
  return true
end

-- Stores when each user last used each GPU, so that a read need not search the history. Starts with an empty hash if another program has changed the
-- number of usage records, or if there are too many uses or users to store. The stored uses are complete for records that end after `since`.
local function keep_last_use()
  local kept = redis.call('HMGET', CONSTANT.lastUse, 'count', 'since')
  local since = kept[2]
  local are_many = #uses > CONSTANT.recentCount
  if are_many or kept[1] ~= tostring(count_before) or redis.call('HLEN', CONSTANT.lastUse) > CONSTANT.mostLastUsers then
    redis.call('DEL', CONSTANT.lastUse)
    local was_empty = count_before == 0 and not are_many
    since = was_empty and '-1' or redis.call('ZREVRANGE', CONSTANT.history, 0, 0, 'WITHSCORES')[2]
  end
  for _, use in ipairs(are_many and {} or uses) do
    local others, last = '', use.ended
    for gpu, ended in string.gmatch(redis.call('HGET', CONSTANT.lastUse, use.field) or '', '(%d+) (%S+)') do
      if gpu ~= use.gpu then
        others = others .. ' ' .. gpu .. ' ' .. ended
      elseif tonumber(ended) > tonumber(last) then
        last = ended
      end
    end
    -- Some usage records name no GPU.
    if use.gpu ~= '' then
      redis.call('HSET', CONSTANT.lastUse, use.field, use.gpu .. ' ' .. last .. others)
    end
  end
  redis.call('HMSET', CONSTANT.lastUse, 'count', tostring(redis.call('ZCARD', CONSTANT.history)), 'since', since)
end

-- The change is already made. Later commands must not make it fail, so their errors are ignored.
if uses[1] then
  local now, age = tonumber(time[1]), CONSTANT.historySeconds
  local old = redis.pcall('ZCOUNT', CONSTANT.history, '-inf', string.format('(%.0f', now - age))
  if type(old) == 'number' and old > 0 and is_gapless(now, age, CONSTANT.historyWindowSeconds) then
    redis.pcall('ZREMRANGEBYRANK', CONSTANT.history, 0, math.min(old, CONSTANT.trimCount) - 1)
  end
  pcall(keep_last_use)
end
-- In Redis before 5, without permission, or with a key of another type, there is no audit log. GPUs can still be granted.
for _, record in ipairs(audit_records) do
  redis.pcall('XADD', CONSTANT.auditLog, 'MAXLEN', '~', CONSTANT.auditCap, '*', 'record', record)
end
if ARGV[3] ~= '' then
  redis.pcall('PUBLISH', CONSTANT.eventChannel, ARGV[3])
end

return 'done'
