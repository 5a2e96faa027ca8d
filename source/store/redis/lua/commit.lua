--[[
Compares every expectation, then writes all or nothing. Decodes no JSON.

KEYS  what is compared and written, which the steps name by their position here
ARGV  1 "1" when a free GPU becomes a lease: then the peer's lock is respected
      2 "1" when it must be refused while memory is full
      3 event, or ""  4 the server's run id, or ""
      5 how many keys must have a value, then each KEY VALUE; how many must be absent, then each KEY
      then steps, each a word and its operands:
        once KEY ATTEMPT (among the absent ones, too)
        line whole-or-prefix N ID...
        set KEY VALUE | delete KEY | join KEY ID VALUE | rejoin KEY ID VALUE SCORE | entry KEY ID VALUE | leave KEY ID
        restored COUNT |
        pool COUNT PROVIDER MACHINE-or-empty | usage SECOND RECORD GPU END USER | audit RECORD

Result  "done", or "conflict" or "locked" when nothing happened. Errors, before anything happened:
        WRONGKEY KEY TYPE when a key is not of its type, NOPERM when a command is not allowed.

script.ts puts keys and limits where CONSTANT and a name stand. The revision is "COUNT BASE SECONDS RUN".
]]

-- A Redis before 5 takes no change from a script that was told the time, unless it passes on each change and not the script.
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

-- What a key must be, or nothing at all, before anything is written: an error after the first write would leave half of it.
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

-- Arrival order is the store's clock, and survives a clock that stands still or goes back. Doubles of this size are 256 apart.
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

-- Reads all that is expected at once, and the revision with it. The number of the first step, or false for a conflict: a key of another
-- type is not what anybody expects. An attempt that comes late finds that another one of its change was carried out.
local function compare()
  local at = first_expectation
  local keys, values = { CONSTANT.revision }, {}
  for number = 1, tonumber(ARGV[at]) do
    keys[number + 1] = KEYS[tonumber(ARGV[at + 1])]
    values[number + 1] = ARGV[at + 2]
    at = at + 2
  end
  local found = redis.call('MGET', unpack(keys))
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
  if absent[1] and redis.call('EXISTS', unpack(absent)) > 0 then
    return false
  end
  return at + 1 + #absent
end

local uses = {}

-- Compares, looks at every step and queues its writes. False for a conflict. A chain of words, since a table of functions would be made
-- for each commit.
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
      -- One more than expected tells whether the line goes on.
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
      -- An entry without a position would never be found again.
      if not stands_in_line(second) then
        return false
      end
      run_later('SET', KEYS[tonumber(first)], ARGV[at + 3])
      at = at + 4
    elseif word == 'join' then
      -- Joining twice would move somebody to the end.
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
      -- The position of an earlier time; an entry that has that very score already comes first.
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

-- Counts this commit. A run that is another than that of the last commit begins with the count that it found.
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

-- Redis refuses commands that need memory only until a script has written. A grant asks for memory first, and is refused
-- whole; anything else begins with a deletion of nothing, so that a release or a heartbeat goes through with memory full.
if ARGV[2] == '1' then
  run_later('SETRANGE', CONSTANT.nothing, 0, '')
else
  run_later('DEL', CONSTANT.nothing)
end

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
  -- The peer lets the whole history expire 90 days after its last record.
  run_later('PERSIST', CONSTANT.history)
end
run_later('SET', CONSTANT.revision, next_revision())

-- The rights are the last thing that could stop it halfway. Redis 7 can tell beforehand.
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

-- Whether usage records lie in every window of the time for which they are kept: raw-plan.ts says why nothing goes where they do not.
local function is_gapless(now, age, window)
  for from = now - age, now - 1, window do
    local count = redis.pcall('ZCOUNT', CONSTANT.history, string.format('%.0f', from), string.format('%.0f', from + window))
    if type(count) ~= 'number' or count == 0 then
      return false
    end
  end
  return true
end

-- When each user last used each GPU, so that a read need not look through the history. Records that came or went without this script
-- show in their number: then this begins again, and says from when on it is whole.
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
    -- A record may be of no GPU.
    if use.gpu ~= '' then
      redis.call('HSET', CONSTANT.lastUse, use.field, use.gpu .. ' ' .. last .. others)
    end
  end
  redis.call('HMSET', CONSTANT.lastUse, 'count', tostring(redis.call('ZCARD', CONSTANT.history)), 'since', since)
end

-- What follows is not worth an error after the change was made.
if uses[1] then
  local now, age = tonumber(time[1]), CONSTANT.historySeconds
  local old = redis.pcall('ZCOUNT', CONSTANT.history, '-inf', string.format('(%.0f', now - age))
  if type(old) == 'number' and old > 0 and is_gapless(now, age, CONSTANT.historyWindowSeconds) then
    redis.pcall('ZREMRANGEBYRANK', CONSTANT.history, 0, math.min(old, CONSTANT.trimCount) - 1)
  end
  pcall(keep_last_use)
end
-- A Redis before 5, an account that may not, a key of another type: the audit log is not kept, and GPUs are handed out all the same.
for _, record in ipairs(audit_records) do
  redis.pcall('XADD', CONSTANT.auditLog, 'MAXLEN', '~', CONSTANT.auditCap, '*', 'record', record)
end
if ARGV[3] ~= '' then
  redis.pcall('PUBLISH', CONSTANT.eventChannel, ARGV[3])
end

return 'done'
