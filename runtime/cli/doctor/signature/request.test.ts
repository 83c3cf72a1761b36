import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { type TestContext, test } from 'node:test'
import { CommandFailure } from '../../command-failure.ts'
import { createCommandLine } from '../../io-fixture.ts'
import { type FiledRequest, readRequests } from './request.ts'

async function read(t: TestContext, content: string | Buffer): Promise<readonly FiledRequest[]> {
  const { cwd } = await createCommandLine(t, {})
  await writeFile(path.join(cwd, 'request'), content)
  return readRequests('request', { cwd })
}

async function readOne(t: TestContext, content: string | Buffer): Promise<FiledRequest> {
  const [request, ...more] = await read(t, content)
  assert.ok(request !== undefined && more.length === 0)
  return request
}

async function faultOf(t: TestContext, content: string | Buffer): Promise<string> {
  const error = await read(t, content).then(
    () => undefined,
    (reason: unknown) => reason,
  )
  assert.ok(error instanceof CommandFailure && error.exitCode === 2, String(error))
  return error.message
}

const text = ({ rawBody }: FiledRequest) => Buffer.from(rawBody).toString()

test('an HTTP message is read with either line end, and its body byte for byte', async (t) => {
  for (const end of ['\n', '\r\n']) {
    const head = ['POST /hooks/a?b=c HTTP/1.1', 'Host: x', 'X-A:  one ', 'x-a: two', '', ''].join(end)
    const body = Buffer.from([0, 255, 13, 10, 13, 10, 32, 10])
    const request = await readOne(t, Buffer.concat([Buffer.from(head), body]))
    assert.deepEqual([request.method, request.target], ['POST', '/hooks/a?b=c'])
    assert.deepEqual({ ...request.headers }, { host: 'x', 'x-a': 'one, two' })
    assert.deepEqual(Buffer.from(request.rawBody), body)
  }
  assert.equal(text(await readOne(t, 'POST / HTTP/2\nA: b')), '')
})

test('the line break of an editor is no part of a body whose length is known, and any other byte is', async (t) => {
  const sent = (body: string) => `POST / HTTP/1.1\nContent-Length: 2\n\n${body}`
  for (const [body, kept] of [
    ['{}', '{}'],
    ['{}\n', '{}'],
    ['{}\r\n', '{}'],
    ['{}\n\n', '{}\n\n'],
    ['{} ', '{} '],
    ['{', '{'],
  ])
    assert.equal(text(await readOne(t, sent(body ?? ''))), kept)
})

test('JSON is read in the shape of a signature vector, of a handshake and of what holds less', async (t) => {
  const [vector, handshake, bare] = await read(
    t,
    JSON.stringify([
      {
        id: 'a',
        provider: 'github',
        method: 'POST',
        url: 'https://x.example/hooks/a?b=%20c#d',
        headers: { 'X-A': 'b' },
        rawBody: 'né',
        now: 1768478400,
      },
      { id: 'b', request: { method: 'get', url: '/hooks/b', headers: {}, rawBody: '' }, now: 1768478400 },
      {
        target: '/hooks/c',
        headers: { __proto__: null, A: ['1', '2'] },
        body: { b: 1 },
        now: '2026-01-15T12:00:00Z',
      },
    ]),
  )
  assert.ok(vector && handshake && bare)
  assert.deepEqual(
    [vector.label, vector.target, vector.url, text(vector), vector.now],
    ['a', '/hooks/a?b=%20c', 'https://x.example/hooks/a?b=%20c#d', 'né', 1768478400000],
  )
  assert.deepEqual(
    [handshake.method, handshake.target, handshake.url, handshake.now],
    ['GET', '/hooks/b', undefined, 1768478400000],
  )
  assert.deepEqual(
    [bare.method, bare.target, text(bare), bare.isBodyWrittenAnew, bare.headers['a']],
    ['POST', '/hooks/c', '{"b":1}', true, '1, 2'],
  )
  assert.deepEqual(
    Buffer.from((await readOne(t, '{"rawBodyBase64": "AP8="}')).rawBody),
    Buffer.from([0, 255]),
  )
})

test('a curl command is read as a shell divides it', async (t) => {
  const request = await readOne(
    t,
    `$ curl -sS -X PUT 'https://x.example/hooks/a?b=c' \\\n  -H "X-A: \\"b\\" \\$c" --header=X-B:d \\\n  --data-raw $'{"a":"it\\'s\\u00e9\\n"}' --compressed`,
  )
  assert.deepEqual(
    [request.method, request.target, request.url],
    ['PUT', '/hooks/a?b=c', 'https://x.example/hooks/a?b=c'],
  )
  assert.deepEqual(
    { ...request.headers },
    { 'x-a': '"b" $c', 'x-b': 'd', 'content-type': 'application/x-www-form-urlencoded' },
  )
  assert.equal(text(request), '{"a":"it\'sé\n"}')
  const joined = await readOne(t, 'curl https://x.example -d a=b -d c=d')
  assert.deepEqual([joined.method, joined.target, text(joined)], ['POST', '/', 'a=b&c=d'])
})

test('a fault of JSON has its place, and quotes nothing', async (t) => {
  const cases: readonly (readonly [string, string])[] = [
    ['{"a": 1,\n  "sekret": }', '2:13'],
    ['{"sekret": "b"', '1:15'],
    ['[{"a": "sekret\nb"}]', '1:15'],
    ['{"a": "sek\\ret}', '1:7'],
    ['{"a": 01}', '1:7'],
    ['{"a": 1} sekret', '1:10'],
    ['[1, 2,]', '1:7'],
    ['{"a" 1}', '1:6'],
    ['{"a": tru}', '1:7'],
    ["{'a': 1}", '1:2'],
  ]
  for (const [content, place] of cases) {
    const fault = await faultOf(t, content)
    assert.equal(fault, `request:${place}: error: This is not valid JSON.`, content)
  }
})

test('a fault of the request names the field, and quotes nothing', async (t) => {
  const cases: readonly (readonly [string, RegExp])[] = [
    ['[]', /holds no request/],
    ['["sekret"]', /\[0\] must be an object/],
    ['[{"zen": "sekret"}]', /\[0\] holds nothing of a request/],
    ['{"zen": "sekret"}', /The file holds nothing of a request: write \{"headers"/],
    ['[{"now": 1}, {"headers": {"sekret name": "a"}}]', /\[1\]\.headers holds a header that is not/],
    ['{"headers": {"a": {"sekret": 1}}}', /headers holds a header/],
    ['{"headers": "sekret"}', /headers must be an object/],
    ['{"rawBody": 1}', /rawBody must be a text/],
    ['{"rawBody": "a", "body": "b"}', /body stands beside rawBody/],
    ['{"rawBodyBase64": "sekret!"}', /rawBodyBase64 is no base64/],
    ['{"now": "sekret"}', /now is no time/],
    ['{"url": 1}', /url must be a text/],
  ]
  for (const [content, told] of cases) {
    const fault = await faultOf(t, content)
    assert.match(fault, told)
    assert.ok(fault.startsWith('request:1:1: error: ') && !fault.includes('sekret'), fault)
  }
})

test('a fault of an HTTP message or of a curl command has its place', async (t) => {
  const cases: readonly (readonly [string, RegExp])[] = [
    ['', /^request:1:1: error: There is no request in it/],
    ['sekret\n', /^request:1:1: error: This is no request/],
    ['POST / HTTP/1.1\nA: b\nsekret\n\n', /^request:3:1: error: This is no header/],
    ['POST / HTTP/1.1\nA: b\n folded: c\n\n', /^request:3:1: error: This is no header/],
    [
      `POST / HTTP/1.1\nA: ${'b'.repeat(70_000)}\n\n`,
      /^request:2:1: error: The request line and headers are longer than 64 KiB/,
    ],
    ["curl x -H 'sekret", /^request:1:11: error: This quotation is not closed/],
    ['curl x \\\n -d @sekret', /^request:2:2: error: The body stands in another file/],
    ['curl x -F a=b', /^request:1:8: error: -F is not read here/],
    ['curl -H a:b', /names no address/],
    ['curl x -H', /-H wants a value/],
    [`curl ${'a'.repeat(1_100_000)}`, /longer than 1 MiB/],
  ]
  for (const [content, told] of cases) {
    const fault = await faultOf(t, content)
    assert.match(fault, told)
    assert.ok(!fault.includes('sekret'), fault)
  }
})

test('a file that is missing, is a folder or is too large is bad usage', async (t) => {
  const { cwd } = await createCommandLine(t, { 'folder/file': '' })
  const io = { cwd }
  await assert.rejects(readRequests('gone', io), { exitCode: 2, message: 'There is no gone.' })
  await assert.rejects(readRequests('folder', io), { exitCode: 2, message: 'folder cannot be read.' })
  await assert.rejects(readRequests('/dev/zero', io), { exitCode: 2, message: /is larger than 32 MiB/ })
})

test('standard input is read, and a long text that breaks the rules takes no time', async (t) => {
  const { cwd } = await createCommandLine(t, {})
  const io = { cwd, input: async () => Buffer.from('POST / HTTP/1.1\n\n{}') }
  assert.equal(text((await readRequests('-', io))[0] as FiledRequest), '{}')
  for (const content of [
    `{"a":"${'\\"'.repeat(500_000)}`,
    '['.repeat(1_000_000),
    `curl '${'a'.repeat(900_000)}`,
    `curl ${"a'b'".repeat(200_000)} -F`,
  ]) {
    const { user } = process.cpuUsage()
    await faultOf(t, content)
    assert.ok(process.cpuUsage().user - user < 3_000_000, content.slice(0, 10))
  }
})
