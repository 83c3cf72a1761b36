import assert from 'node:assert/strict'
import { test } from 'node:test'
import { getHeapSpaceStatistics } from 'node:v8'
import { releaseMemory, releaseMemoryAtRest } from './memory-release.ts'

const megabyte = 1_048_576

/** A thread whose seconds the test counts. Each request leaves a megabyte that `release` frees. */
function createThread() {
  let requests = 0
  let busyMs = 0
  let megabytes = 20
  let look = () => {}
  const releases: number[] = []
  const end = releaseMemoryAtRest({
    requests: () => requests,
    busyMs: () => busyMs,
    heldBytes: () => megabytes * megabyte,
    release() {
      releases.push(requests)
      megabytes = 20
      busyMs += 200
    },
    repeat(act, ms) {
      assert.equal(ms, 1_000)
      look = act
      return () => {
        look = () => {}
      }
    },
  })
  const pass = (seconds: number) => {
    for (let second = 0; second < seconds; second++) look()
  }
  pass(10)
  assert.deepEqual(releases.splice(0), [0], 'what the start left is given back')
  return {
    releases,
    end,
    pass,
    request(count: number) {
      requests += count
      megabytes += count
    },
    /** Computes without a request, for so many seconds. */
    perform(seconds: number, ms: number) {
      for (let second = 0; second < seconds; second++) {
        busyMs += ms
        megabytes += 1
        pass(1)
      }
    },
  }
}

test('memory is given back once after ten seconds of rest, and again after the next flood', () => {
  const { releases, request, pass } = createThread()
  request(100)
  pass(10)
  assert.deepEqual(releases, [], 'the rest began with the first look that found no request')
  pass(1)
  assert.deepEqual(releases, [100])
  pass(60)
  assert.deepEqual(releases, [100])
  request(50)
  pass(11)
  assert.deepEqual(releases, [100, 150])
})

test('no memory is given back while requests come', () => {
  const { releases, request, pass } = createThread()
  for (let n = 1; n <= 20; n++) {
    request(10)
    pass(9)
  }
  assert.deepEqual(releases, [])
  pass(2)
  assert.deepEqual(releases, [200])
})

test('a thread that performs runs is not at rest, and one that does next to nothing is', () => {
  const { releases, perform, pass } = createThread()
  perform(60, 80)
  assert.deepEqual(releases, [])
  perform(10, 20)
  assert.equal(releases.length, 1)
  pass(60)
  assert.equal(releases.length, 1)
})

test('a thread that holds hardly more than before collects nothing', () => {
  const { releases, request, pass } = createThread()
  pass(60)
  request(7)
  pass(60)
  assert.deepEqual(releases, [])
  request(1)
  pass(60)
  assert.deepEqual(releases, [8])
})

test('nothing is given back after the end', () => {
  const { releases, request, pass, end } = createThread()
  request(100)
  end()
  pass(60)
  assert.deepEqual(releases, [])
})

test('the young generation is as small as at first after a release', () => {
  const young = () => getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space')
  let kept: object[] = []
  for (let n = 0; n < 1_000_000; n++) {
    if (kept.length > 50_000) kept = []
    kept.push({ n, list: [n] })
  }
  kept = []
  const grown = young()?.physical_space_size ?? 0
  releaseMemory()
  const left = young()?.physical_space_size ?? 0
  assert.ok(left * 4 < grown, `${grown} bytes became ${left}`)
})
