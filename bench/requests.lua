-- wrk script: arguments are the case, the number of SKUs, and the number of the run: each run draws
-- other SKUs. The rows that belong together follow from their ids as in shape.ts.
local case, skus, state = 'sku', 1000, 1

-- Park and Miller's minimal standard generator, whose period is 2^31 - 2: its products are whole
-- numbers below 2^53, so that a double holds each of them.
local function draw(count)
  state = state * 48271 % 2147483647
  return state % count
end

function init(args)
  case = args[1] or case
  skus = tonumber(args[2]) or skus
  -- Far apart: neighbouring seeds begin with neighbouring numbers.
  state = (tonumber(args[3]) or 1) * 7919 % 2147483647
  for _ = 1, 10 do draw(1) end
end

local JSON = { ['Content-Type'] = 'application/json' }

-- Changes the price, and adds two specification records.
local function put(id)
  local spu = (id - 1) % math.ceil(skus / 20) + 1
  local category = 70 + (spu - 1) % 300 + 1
  local price = draw(899000) + 1000
  local colour, size = 2 * spu - 1, 2 * spu
  local body = string.format(
    '{"name":"Benchmark SKU %d","spu_id":%d,"caption":"Made for measuring","category_id":%d,"price":%d,"cost_price":%d,"market_price":%d,"stock":%d,"is_launched":true,"specs":[{"spec_id":%d,"option_id":%d},{"spec_id":%d,"option_id":%d}]}',
    id, spu, category, price, math.floor(price / 2), math.floor(price * 1.1), draw(1000),
    colour, (colour - 1) * 4 + draw(4) + 1, size, (size - 1) * 4 + draw(4) + 1)
  JSON.Authorization = wrk.headers.Authorization
  return wrk.format('PUT', '/admin/skus/' .. id .. '/', JSON, body)
end

local function post(id)
  local body = string.format('{"name":"Book %d","pub_date":"2024-01-02","image":null}', id)
  return wrk.format('POST', '/books/', JSON, body)
end

function request()
  local id = draw(skus) + 1
  local page = draw(math.max(1, math.floor(skus / 20))) + 1
  if case == 'put' then return put(id) end
  if case == 'mixed' and draw(100) < 5 then return put(id) end
  if case == 'post' then return post(id) end
  if case == 'book' then return wrk.format('GET', '/books/' .. id % 1000 + 1 .. '/') end
  if case == 'list' then return wrk.format('GET', '/admin/skus/?per_page=20&page=' .. page) end
  if case == 'sorted' then
    return wrk.format('GET', '/admin/skus/?sortby=price&order=desc&per_page=20&page=' .. page)
  end
  if case == 'keyword' then return wrk.format('GET', '/admin/skus/?keyword=Benchmark%20SKU%20' .. id) end
  return wrk.format('GET', '/admin/skus/' .. id .. '/')
end
