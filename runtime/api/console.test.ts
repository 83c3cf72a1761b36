import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { gunzipSync, gzipSync } from 'node:zlib'
import Fastify from 'fastify'
import { createFolder } from '../../test/installation.ts'
import { registerConsole } from './console.ts'
import { createFaultHandler } from './errors.ts'
import { protectAnswers } from './headers.ts'

const page =
  '<!doctype html><script type="module" nonce="__NONCE__" src="/console/assets/app-1a2b.js"></script>'
const script = 'export const answer = 42'

async function open(t: TestContext, { tokens = ['gateway-token'], isBuilt = true } = {}) {
  const folder = await createFolder(
    t,
    isBuilt
      ? {
          'index.html': page,
          'secret.js': 'not an asset',
          'assets/app-1a2b.js': script,
          'assets/app-1a2b.css': 'a {}',
          'assets/notes.txt': 'of no known type',
        }
      : {},
  )
  if (isBuilt) await writeFile(join(folder, 'assets', 'app-1a2b.js.gz'), gzipSync(script))
  const app = Fastify()
  t.after(() => app.close())
  app.setErrorHandler(createFaultHandler({ info() {}, error() {} }))
  await protectAnswers(app)
  registerConsole(app, {
    current: () => ({ snapshot: { settings: { gateway: { tokens } } } }) as never,
    mintId: () => 'minted',
    consoleFolder: folder,
  })
  return (url: string, headers = {}, method: 'GET' | 'HEAD' | 'POST' = 'GET') =>
    app.inject({ url, headers, method })
}

test('every page of the console is one file with a nonce of its own and a strict policy', async (t) => {
  const ask = await open(t)
  const nonces = new Set<string>()
  const urls = ['/console', '/console/', '/console/live', '/console/requests/01a1?x=1', '/console/..%2fetc']
  for (const url of urls) {
    const { statusCode, headers, payload } = await ask(url)
    assert.equal(statusCode, 200, url)
    const [, nonce = ''] = /nonce="([\w+/=]{24})"/.exec(payload) ?? []
    nonces.add(nonce)
    assert.equal(payload, page.replace('__NONCE__', nonce))
    assert.equal(headers['content-type'], 'text/html; charset=utf-8')
    assert.equal(headers['cache-control'], 'no-store')
    assert.equal(headers['referrer-policy'], 'no-referrer')
    assert.equal(headers['x-content-type-options'], 'nosniff')
    const policy = String(headers['content-security-policy'])
    for (const rule of [
      "default-src 'none'",
      `script-src 'nonce-${nonce}' 'strict-dynamic' 'self'`,
      `style-src 'self' 'nonce-${nonce}'`,
      "frame-ancestors 'none'",
      "base-uri 'none'",
    ])
      assert.ok(policy.split(';').includes(rule), rule)
    assert.doesNotMatch(policy, /unsafe|http|\*/)
  }
  assert.equal(nonces.size, urls.length)
})

test('a file is kept by browsers for a year, and is sent compressed to those that take it', async (t) => {
  const ask = await open(t)
  const plain = await ask('/console/assets/app-1a2b.js')
  assert.deepEqual([plain.statusCode, plain.payload], [200, script])
  assert.equal(plain.headers['cache-control'], 'public, max-age=31536000, immutable')
  assert.equal(plain.headers['content-type'], 'text/javascript; charset=utf-8')
  assert.equal(plain.headers['content-encoding'], undefined)
  const zipped = await ask('/console/assets/app-1a2b.js', { 'accept-encoding': 'br, gzip;q=0.8' })
  assert.equal(zipped.headers['content-encoding'], 'gzip')
  assert.equal(zipped.headers['vary'], 'accept-encoding')
  assert.equal(gunzipSync(zipped.rawPayload).toString(), script)
  for (const encoding of ['identity', 'gzip;q=0', 'gzip;q=0.0, br', 'xgzip']) {
    const { headers } = await ask('/console/assets/app-1a2b.js', { 'accept-encoding': encoding })
    assert.equal(headers['content-encoding'], undefined, encoding)
  }
  const style = await ask('/console/assets/app-1a2b.css', { 'accept-encoding': 'gzip' })
  assert.deepEqual([style.payload, style.headers['content-encoding']], ['a {}', undefined])
})

test('nothing but the files of the console is served', async (t) => {
  const ask = await open(t)
  for (const name of [
    'none.js',
    '',
    '..%2fsecret.js',
    '%2e%2e%2fsecret.js',
    '../secret.js',
    'a/app-1a2b.js',
    '.hidden.js',
    'notes.txt',
    'app-1a2b.js.gz',
    'app-1a2b.js%00.css',
  ]) {
    const { statusCode, payload } = await ask(`/console/assets/${name}`)
    assert.ok(statusCode === 404 || payload.includes('<!doctype html>'), name)
    assert.doesNotMatch(payload, /not an asset|no known type/)
  }
  const { statusCode, headers } = await ask('/console/live', {}, 'POST')
  assert.deepEqual([statusCode, headers['allow']], [405, 'GET, HEAD'])
  assert.deepEqual((await ask('/console', {}, 'HEAD')).statusCode, 200)
})

test('without a gateway token, and where it is not built, there is no console', async (t) => {
  const withoutToken = await open(t, { tokens: [] })
  for (const url of ['/console', '/console/live', '/console/assets/app-1a2b.js'])
    assert.equal((await withoutToken(url)).statusCode, 404)
  const notBuilt = await open(t, { isBuilt: false })
  const { statusCode, payload } = await notBuilt('/console')
  assert.equal(statusCode, 404)
  assert.match(payload, /npm start/)
})
