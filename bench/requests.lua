-- wrk script: arguments are the case and the number of SKUs; ids are drawn by a fixed generator.
local case, skus, state = 'sku', 1000, 1

local function draw()
  state = (state * 1103515245 + 12345) % 2147483648
  return state % skus + 1
end

function init(args)
  case = args[1] or case
  skus = tonumber(args[2]) or skus
end

local function put(id)
  local body = string.format(
    '{"name":"Benchmark SKU %d","spu_id":%d,"caption":"Made for measuring","category_id":3,"price":%d,"cost_price":399900,"market_price":549900,"stock":%d,"is_launched":true,"specs":[]}',
    id, (id - 1) % 1000 + 1, state % 1000000, state % 1000)
  return wrk.format('PUT', '/admin/skus/' .. id .. '/', { ['Content-Type'] = 'application/json', Authorization = wrk.headers.Authorization }, body)
end

function request()
  local id = draw()
  if case == 'put' then return put(id) end
  if case == 'book' then return wrk.format('GET', '/books/' .. id % 1000 + 1 .. '/') end
  if case == 'one' then return wrk.format('GET', '/admin/skus/17/') end
  if case == 'list' then return wrk.format('GET', '/admin/skus/?page=' .. id % 50 + 1) end
  if case == 'keyword' then return wrk.format('GET', '/admin/skus/?keyword=Benchmark+SKU+' .. id) end
  return wrk.format('GET', '/admin/skus/' .. id .. '/')
end
