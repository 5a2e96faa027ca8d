--[[
Compares every expectation, then writes all or nothing. Decodes no JSON.

KEYS  1 gpu_count  2 provider  3 machine  4 queue  5 usage history  6 drains  7 notices
      8 revision: "COUNT BASE SECONDS RUN"  9 policy  10 the peer's allocation lock  11 a key that never exists
      12 the audit trail  13... GPU records, queue entries and changes, which the steps name by their place here, as they do
      6, 7, 8 and 9
ARGV  1 "1" when a free GPU becomes a lease: then the peer's lock is respected
      2 "1" when it must be refused while memory is full
      3 channel  4 event, or ""  5 age in seconds at which usage records go  6 how many of them may go at once
      7 how many records the trail keeps, about  8 the server's run id, or ""
      9 seconds in which there must be a usage record, or none goes
      10... steps, each a word and its operands:
        once KEY ATTEMPT SECONDS
        same KEY VALUE | absent KEY | line whole-or-prefix N ID... | size COUNT-or-empty
        set KEY VALUE | delete KEY | join KEY ID VALUE | rejoin KEY ID VALUE SCORE | entry KEY ID VALUE | leave KEY ID
        restored COUNT |
        pool COUNT PROVIDER MACHINE-or-empty | usage SECOND RECORD | audit RECORD

Result  "done", or "conflict" or "locked" when nothing happened. Errors, before anything happened:
        WRONGKEY KEY TYPE when a key is not of its type, NOPERM when a command is not allowed.
]]

-- A Redis before 5 takes no change from a script that was told the time, unless it passes on each change and not the script.
if redis.replicate_commands then
  redis.replicate_commands()
end

local first_step = 10
local commands = {}
local trail = {}
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

-- A key of another type is not what anybody expects.
local function has_value(key, expected)
  return redis.pcall('GET', key) == expected
end

local taken_scores = {}

local function score_text(score)
  return string.format('%.0f', score)
end

-- Arrival order is the store's clock, and survives a clock that stands still or goes back. Doubles of this size are 256 apart.
local function next_score()
  if not last_score then
    local newest = redis.call('ZREVRANGE', KEYS[4], 0, 0, 'WITHSCORES')
    last_score = newest[2] and tonumber(newest[2]) or 0
  end
  last_score = math.max(tonumber(time[1]) * 1e9 + tonumber(time[2]) * 1e3, last_score + 1024)
  return score_text(last_score)
end

local function stands_in_line(id)
  must_be(KEYS[4], 'zset')
  return redis.call('ZSCORE', KEYS[4], id)
end

-- Each takes the place of its first operand, and answers the place after its last one, or nil for a conflict.
local steps = {
  -- A request that comes late finds that another attempt of its change was carried out.
  once = function(at)
    local key = KEYS[tonumber(ARGV[at])]
    if redis.call('EXISTS', key) == 1 then
      return nil
    end
    run_later('SET', key, ARGV[at + 1], 'EX', ARGV[at + 2])
    return at + 3
  end,
  same = function(at)
    return has_value(KEYS[tonumber(ARGV[at])], ARGV[at + 1]) and at + 2
  end,
  absent = function(at)
    return has_value(KEYS[tonumber(ARGV[at])], false) and at + 1
  end,
  size = function(at)
    return has_value(KEYS[1], ARGV[at] ~= '' and ARGV[at]) and at + 1
  end,
  line = function(at)
    local length = tonumber(ARGV[at + 1])
    must_be(KEYS[4], 'zset')
    -- One more than expected tells whether the line goes on.
    local ids = redis.call('ZRANGE', KEYS[4], 0, length)
    for place = 1, length do
      if ids[place] ~= ARGV[at + 1 + place] then
        return nil
      end
    end
    return (ARGV[at] == 'prefix' or #ids == length) and at + 2 + length
  end,
  set = function(at)
    run_later('SET', KEYS[tonumber(ARGV[at])], ARGV[at + 1])
    return at + 2
  end,
  delete = function(at)
    run_later('DEL', KEYS[tonumber(ARGV[at])])
    return at + 1
  end,
  -- Joining twice would move somebody to the end.
  join = function(at)
    if stands_in_line(ARGV[at + 1]) then
      return nil
    end
    run_later('ZADD', KEYS[4], next_score(), ARGV[at + 1])
    run_later('SET', KEYS[tonumber(ARGV[at])], ARGV[at + 2])
    return at + 3
  end,
  -- The place of an earlier time; an entry that has that very score already comes first.
  rejoin = function(at)
    if stands_in_line(ARGV[at + 1]) then
      return nil
    end
    local score = tonumber(ARGV[at + 3])
    while taken_scores[score] or #redis.call('ZRANGEBYSCORE', KEYS[4], score_text(score), score_text(score)) > 0 do
      score = score + 1024
    end
    taken_scores[score] = true
    run_later('ZADD', KEYS[4], score_text(score), ARGV[at + 1])
    run_later('SET', KEYS[tonumber(ARGV[at])], ARGV[at + 2])
    return at + 4
  end,
  -- An entry without a place would never be found again.
  entry = function(at)
    if not stands_in_line(ARGV[at + 1]) then
      return nil
    end
    run_later('SET', KEYS[tonumber(ARGV[at])], ARGV[at + 2])
    return at + 3
  end,
  leave = function(at)
    must_be(KEYS[4], 'zset')
    run_later('ZREM', KEYS[4], ARGV[at + 1])
    run_later('DEL', KEYS[tonumber(ARGV[at])])
    return at + 2
  end,
  pool = function(at)
    run_later('SET', KEYS[1], ARGV[at])
    run_later('SET', KEYS[2], ARGV[at + 1])
    if ARGV[at + 2] == '' then
      run_later('DEL', KEYS[3])
    else
      run_later('SET', KEYS[3], ARGV[at + 2])
    end
    return at + 3
  end,
  restored = function(at)
    restored_count = tonumber(ARGV[at])
    return at + 1
  end,
  usage = function(at)
    must_be(KEYS[5], 'zset')
    run_later('ZADD', KEYS[5], ARGV[at], ARGV[at + 1])
    return at + 2
  end,
  audit = function(at)
    trail[#trail + 1] = ARGV[at]
    return at + 1
  end,
}

-- Counts this commit. A run that is another than that of the last commit begins with the count that it found.
local function next_revision()
  local stored = redis.pcall('GET', KEYS[8])
  local count, base, since, run
  if type(stored) == 'string' then
    count, base, since, run = string.match(stored, '^(%d+) (%d+) (%d+) (%S*)$')
  end
  count = tonumber(count) or 0
  base = tonumber(base) or 0
  since = since or time[1]
  if not run or (ARGV[8] ~= '' and run ~= ARGV[8]) then
    run = ARGV[8]
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

if ARGV[1] == '1' and redis.call('EXISTS', KEYS[10]) == 1 then
  return 'locked'
end

-- Redis refuses commands that need memory only until a script has written. A grant asks for memory first, and is refused
-- whole; anything else begins with a deletion of nothing, so that a release or a heartbeat goes through with memory full.
if ARGV[2] == '1' then
  run_later('SETRANGE', KEYS[11], 0, '')
else
  run_later('DEL', KEYS[11])
end

local at = first_step
local has_usage = false
while ARGV[at] do
  local word = ARGV[at]
  local ok, after = pcall(steps[word], at + 1)
  if not ok then
    return type(after) == 'table' and after or redis.error_reply(tostring(after))
  end
  if not after then
    return 'conflict'
  end
  has_usage = has_usage or word == 'usage'
  at = after
end

if has_usage then
  -- The peer lets the whole history expire 90 days after its last record.
  run_later('PERSIST', KEYS[5])
end
run_later('SET', KEYS[8], next_revision())

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
    local count = redis.pcall('ZCOUNT', KEYS[5], string.format('%.0f', from), string.format('%.0f', from + window))
    if type(count) ~= 'number' or count == 0 then
      return false
    end
  end
  return true
end

-- What follows is not worth an error after the change was made.
if has_usage then
  local now, age = tonumber(time[1]), tonumber(ARGV[5])
  local old = redis.pcall('ZCOUNT', KEYS[5], '-inf', string.format('(%.0f', now - age))
  if type(old) == 'number' and old > 0 and is_gapless(now, age, tonumber(ARGV[9])) then
    redis.pcall('ZREMRANGEBYRANK', KEYS[5], 0, math.min(old, tonumber(ARGV[6])) - 1)
  end
end
-- A Redis before 5, an account that may not, a key of another type: the trail is not kept, and GPUs are handed out all the same.
for _, record in ipairs(trail) do
  redis.pcall('XADD', KEYS[12], 'MAXLEN', '~', ARGV[7], '*', 'record', record)
end
if ARGV[4] ~= '' then
  redis.pcall('PUBLISH', ARGV[3], ARGV[4])
end

return 'done'
