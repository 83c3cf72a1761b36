import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { type TestContext, test } from 'node:test'
import { UnavailableError } from '@reveille/engine'
import { createDownloads } from './downloads.ts'
import { createWebFixture } from './fixture.ts'

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const keys = 'https://keys.example/keys'

async function begin(context: TestContext) {
  const fixture = await createWebFixture(context)
  const clock = { now: Date.UTC(2026, 0, 1) }
  const { download } = createDownloads({ web: fixture.web, now: () => clock.now })
  /** Each answer contains the number of earlier answers. */
  const count = (headers: Record<string, string> = {}) => {
    fixture.answer = (_incoming, outgoing) => {
      outgoing.writeHead(200, headers).end(String(fixture.requests.length))
    }
  }
  count()
  return { ...fixture, fixture, clock, download, count }
}

function fail(status: number) {
  return (_incoming: unknown, outgoing: ServerResponse) => outgoing.writeHead(status).end('no')
}

test('a copy is kept for as long as its server says, from five minutes to a day', async (t) => {
  const { requests, clock, download, count } = await begin(t)
  const cases: [Record<string, string>, number][] = [
    [{}, hourMs],
    [{ 'cache-control': 'public, max-age=1200, must-revalidate' }, 20 * minuteMs],
    [{ 'cache-control': 'public, max-age=1200', age: '300' }, 15 * minuteMs],
    [{ 'cache-control': 'no-store, max-age=0' }, 5 * minuteMs],
    [{ 'cache-control': 'max-age=9999999' }, 24 * hourMs],
    [{ 'cache-control': 'max-age=many' }, hourMs],
  ]
  for (const [index, [headers, freshMs]] of cases.entries()) {
    const url = `${keys}/${index}`
    count(headers)
    const first = await download(url)
    clock.now += freshMs - 1
    assert.equal(await download(url), first)
    clock.now += 1
    assert.notEqual(await download(url), first, JSON.stringify(headers))
  }
  assert.equal(requests.length, 2 * cases.length)
})

test('simultaneous callers share one download', async (t) => {
  const { requests, download } = await begin(t)
  const texts = await Promise.all(Array.from({ length: 20 }, () => download(keys)))
  assert.deepEqual(new Set(texts), new Set(['1']))
  assert.equal(requests.length, 1)
})

test('a fresh copy is fetched at most once a minute', async (t) => {
  const { clock, download } = await begin(t)
  assert.equal(await download(keys), '1')
  assert.equal(await download(keys, { fresh: true }), '1')
  clock.now += minuteMs
  assert.equal(await download(keys, { fresh: true }), '2')
  assert.equal(await download(keys, { fresh: true }), '2')
  assert.equal(await download(keys), '2')
})

test('a stale copy is served for a day while there is no newer one, and then no more', async (t) => {
  const { fixture, clock, download, count } = await begin(t)
  assert.equal(await download(keys), '1')
  fixture.answer = fail(503)
  clock.now += 2 * hourMs
  assert.equal(await download(keys), '1')
  assert.equal(await download(keys), '1')
  assert.equal(fixture.requests.length, 2, 'the failure is remembered')
  clock.now += 23 * hourMs - 1
  assert.equal(await download(keys), '1')
  clock.now += 10_001
  await assert.rejects(download(keys), UnavailableError)
  clock.now += 10_000
  count()
  assert.equal(await download(keys), String(fixture.requests.length))
})

test('a failed request for a fresh copy rejects, although there is an old copy', async (t) => {
  const { fixture, clock, download } = await begin(t)
  await download(keys)
  fixture.answer = fail(500)
  clock.now += minuteMs
  await assert.rejects(download(keys, { fresh: true }), UnavailableError)
  clock.now += minuteMs - 1
  await assert.rejects(download(keys, { fresh: true }), UnavailableError)
  assert.equal(fixture.requests.length, 2)
  assert.equal(await download(keys), '1')
})

test('a failure is remembered for ten seconds', async (t) => {
  const { fixture, clock, download, count } = await begin(t)
  fixture.answer = fail(500)
  await assert.rejects(download(keys), UnavailableError)
  count()
  await assert.rejects(download(keys), UnavailableError)
  clock.now += 10_000
  assert.equal(await download(keys), '2')
})

test('a failure says whether the server has nothing at the address', async (t) => {
  const { fixture, download } = await begin(t)
  for (const [status, isAbsent] of [
    [404, true],
    [410, true],
    [403, false],
    [500, false],
    [204, false],
  ] as const) {
    fixture.answer = fail(status)
    await assert.rejects(download(`${keys}/${status}`), { name: 'UnavailableError', isAbsent })
  }
})

test('a redirect is not followed', async (t) => {
  const { fixture, requests, download } = await begin(t)
  fixture.answer = (_incoming, outgoing) => outgoing.writeHead(302, { location: '/elsewhere' }).end()
  await assert.rejects(download(keys), UnavailableError)
  assert.deepEqual(requests, ['/keys'])
})

test('only https addresses without credentials are fetched', async (t) => {
  const { requests, download } = await begin(t)
  for (const url of [
    'http://keys.example/keys',
    'https://user@keys.example/',
    'file:///etc/passwd',
    'keys',
    '',
  ])
    await assert.rejects(download(url), UnavailableError, url)
  assert.deepEqual(requests, [])
})

test('a response that is too long is not read to its end', async (t) => {
  const { fixture, download } = await begin(t)
  fixture.answer = (_incoming, outgoing) => outgoing.end('a'.repeat(262_144))
  assert.equal((await download(keys)).length, 262_144)
  const closed = Promise.withResolvers<void>()
  fixture.answer = (_incoming, outgoing) => {
    outgoing.on('close', closed.resolve)
    const more = () => {
      while (!outgoing.destroyed && outgoing.write('a'.repeat(65_536)));
    }
    outgoing.on('drain', more)
    more()
  }
  await assert.rejects(download(`${keys}/endless`), UnavailableError)
  await closed.promise
})

test('a response that is not UTF-8 is refused', async (t) => {
  const { fixture, download } = await begin(t)
  fixture.answer = (_incoming, outgoing) => outgoing.end(Buffer.from([0xff, 0xfe]))
  await assert.rejects(download(keys), UnavailableError)
})

test('a server that does not answer completely is given five seconds', async (t) => {
  const { fixture, download } = await begin(t)
  for (const begun of [false, true]) {
    fixture.answer = (_incoming, outgoing) => begun && outgoing.writeHead(200).write('{')
    const downloading = download(`${keys}/${begun}`)
    await fixture.askedTimes(begun ? 2 : 1)
    await Promise.all([assert.rejects(downloading, UnavailableError), fixture.pass(5000)])
  }
})

test('at most sixteen downloads run at a time, and closing the gateway ends them', async (t) => {
  const { fixture, download } = await begin(t)
  fixture.answer = () => {}
  const hanging = Array.from({ length: 16 }, (_, index) => download(`${keys}/${index}`))
  const all = Promise.all(hanging.map((each) => assert.rejects(each, UnavailableError)))
  await assert.rejects(download(`${keys}/17`), UnavailableError)
  await fixture.askedTimes(16)
  fixture.stop()
  await all
  assert.equal(fixture.requests.length, 16)
})

test('a hundred addresses are kept, those used last', async (t) => {
  const { requests, download } = await begin(t)
  for (let index = 0; index < 100; index++) await download(`${keys}/${index}`)
  await download(`${keys}/0`)
  await download(`${keys}/100`)
  assert.equal(requests.length, 101)
  await download(`${keys}/0`)
  assert.equal(requests.length, 101)
  await download(`${keys}/1`)
  assert.equal(requests.length, 102)
})

test('failing addresses push out no copies', async (t) => {
  const { fixture, requests, download } = await begin(t)
  await download(keys)
  fixture.answer = fail(404)
  for (let index = 0; index < 150; index++) await download(`${keys}/${index}`).catch(() => {})
  assert.equal(await download(keys), '1')
  assert.equal(requests.length, 151)
})

test('a clock that was set back does not prolong the life of a copy', async (t) => {
  const { clock, download } = await begin(t)
  await download(keys)
  clock.now -= hourMs
  assert.equal(await download(keys), '2')
})
