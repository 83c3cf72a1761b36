import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { type TestContext, test } from 'node:test'
import { CommandFailure } from './command-failure.ts'
import { createCommandLine } from './io-fixture.ts'
import { type FiledRequest, readRequestFile } from './request-file.ts'

async function read(t: TestContext, content: string | Buffer): Promise<FiledRequest> {
  const { cwd } = await createCommandLine(t, {})
  await writeFile(path.join(cwd, 'request'), content)
  return readRequestFile('request', { cwd })
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
    const request = await read(t, Buffer.concat([Buffer.from(head), body]))
    assert.deepEqual([request.method, request.target], ['POST', '/hooks/a?b=c'])
    assert.deepEqual({ ...request.headers }, { host: 'x', 'x-a': 'one, two' })
    assert.deepEqual(Buffer.from(request.rawBody), body)
  }
  assert.equal(text(await read(t, 'POST / HTTP/2\nA: b')), '')
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
    assert.equal(text(await read(t, sent(body ?? ''))), kept)
})

test('a fault of an HTTP message has its place, and quotes nothing', async (t) => {
  const cases: readonly (readonly [string, RegExp])[] = [
    ['', /^request:1:1: error: There is no request in it/],
    ['sekret\n', /^request:1:1: error: This is no request/],
    ['POST / HTTP/1.1\nA: b\nsekret\n\n', /^request:3:1: error: This is no header/],
    ['POST / HTTP/1.1\nA: b\n folded: c\n\n', /^request:3:1: error: This is no header/],
    [
      `POST / HTTP/1.1\nA: ${'b'.repeat(70_000)}\n\n`,
      /^request:2:1: error: The request line and headers are longer than 64 KiB/,
    ],
    ['{"headers": {}, "rawBody": "sekret"}', /^request:1:1: error: This is no request/],
    ['curl x -d sekret', /^request:1:1: error: This is no request/],
  ]
  for (const [content, output] of cases) {
    const fault = await faultOf(t, content)
    assert.match(fault, output)
    assert.ok(!fault.includes('sekret'), fault)
  }
})

test('a file that is missing, is a folder or is too large is bad usage', async (t) => {
  const { cwd } = await createCommandLine(t, { 'folder/file': '' })
  const io = { cwd }
  await assert.rejects(readRequestFile('gone', io), { exitCode: 2, message: 'There is no gone.' })
  await assert.rejects(readRequestFile('folder', io), { exitCode: 2, message: 'folder cannot be read.' })
  await assert.rejects(readRequestFile('/dev/zero', io), { exitCode: 2, message: /is larger than 32 MiB/ })
})

test('standard input is read, and a long text that breaks the rules takes no time', async (t) => {
  const { cwd } = await createCommandLine(t, {})
  const io = { cwd, input: async () => Buffer.from('POST / HTTP/1.1\n\n{}') }
  assert.equal(text(await readRequestFile('-', io)), '{}')
  for (const content of [
    `{"a":"${'\\"'.repeat(500_000)}`,
    '['.repeat(1_000_000),
    `POST / HTTP/1.1\n${'a'.repeat(900_000)}`,
  ]) {
    const { user } = process.cpuUsage()
    await faultOf(t, content)
    assert.ok(process.cpuUsage().user - user < 3_000_000, content.slice(0, 10))
  }
})
