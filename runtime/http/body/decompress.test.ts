import assert from 'node:assert/strict'
import { test } from 'node:test'
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib'
import { decompress } from './decompress.ts'

const text = Buffer.from('{"a":1}')
const encoders = {
  gzip: gzipSync,
  'X-GZip': gzipSync,
  ' deflate ': deflateSync,
  deflate: deflateRawSync,
  br: brotliCompressSync,
  identity: (body: Buffer) => body,
}

for (const [name, encode] of Object.entries(encoders)) {
  test(`a body sent as ${JSON.stringify(name)} by ${encode.name || 'nobody'} is decoded`, async () => {
    assert.deepEqual(await decompress(encode(text), name, 100), text)
  })
}

for (const [name, encode] of Object.entries({
  gzip: gzipSync,
  deflate: deflateSync,
  br: brotliCompressSync,
})) {
  test(`a ${name} bomb is stopped at the limit`, async () => {
    const bomb = encode(Buffer.alloc(8 * 1024 * 1024))
    await assert.rejects(decompress(bomb, name, 1024), { code: 'BODY_TOO_LARGE' })
  })

  test(`a body of exactly the limit passes as ${name}`, async () => {
    assert.equal((await decompress(encode(Buffer.alloc(1024)), name, 1024)).length, 1024)
  })

  test(`broken and truncated ${name} is refused`, async () => {
    await assert.rejects(decompress(Buffer.from([0xff, 0x00, 0xff]), name, 100), { code: 'BAD_ENCODING' })
    const cut = encode(text).subarray(0, 9)
    await assert.rejects(decompress(cut, name, 100), { code: 'BAD_ENCODING' })
  })
}

test('an unknown encoding and a chain of encodings are refused', async () => {
  for (const name of ['zstd', 'gzip, br', 'constructor']) {
    await assert.rejects(decompress(text, name, 100), { code: 'UNSUPPORTED_ENCODING' })
  }
})

test('an empty body needs no decoding', async () => {
  assert.equal((await decompress(Buffer.alloc(0), 'gzip', 100)).length, 0)
})
