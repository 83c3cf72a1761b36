import assert from 'node:assert/strict'
import { Writable } from 'node:stream'
import { test } from 'node:test'
import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import type { Channel } from '@reveille/kit'
import { channelConformance } from '@reveille/kit/conformance'
import { createTerminalChannel, type TerminalStream } from './channel.ts'

channelConformance({
  name: 'the terminal channel conforms',
  plugin: new URL('./index.ts', import.meta.url),
  places: [['stdout', ' stdout '], ['stderr']],
  badAddresses: ['STDOUT', 'stdin', '#general', '/dev/tty'],
  create() {
    const stdout = createStream()
    const { channel, close } = createTerminalChannel({ stdout, stderr: createStream() })
    return {
      channel,
      messages: () => stdout.written,
      stall: () => stdout.cork(),
      fail: () => stdout.destroy(Object.assign(new Error('write EPIPE'), { code: 'EPIPE' })),
      close,
    }
  },
})

/** A stream that remembers each write. */
function createStream(facts: Partial<TerminalStream> = {}) {
  const written: string[] = []
  const stream = new Writable({
    decodeStrings: false,
    write(chunk: string, _encoding, done) {
      written.push(chunk)
      done()
    },
  })
  return Object.assign(stream, { written }, facts)
}

const callTo = (channel: Channel) => {
  return { target: channel.target('stdout'), key: 'd:1', signal: new AbortController().signal }
}

function open(facts: Partial<TerminalStream> = {}) {
  const stdout = createStream(facts)
  const stderr = createStream()
  const { channel, close } = createTerminalChannel({ stdout, stderr })
  async function send(markdown: string, to = 'stdout') {
    const { signal } = new AbortController()
    const target = channel.target(to)
    for (const [index, part] of channel.render(markdown).entries()) {
      const key = `019a7c3e-1111-7222-8333-44445c1d09aa:${index + 1}`
      await channel.send(part, { target, key, signal })
    }
  }
  return { stdout, stderr, channel, close, send }
}

test('a reply is a titled block, without colours if there is no terminal', async () => {
  const { send, stdout, stderr } = open()
  await send('# Done\n\nAll is *well*.')
  assert.deepEqual(stdout.written, ['╭ reply 1d09aa\n│ # Done\n│\n│ All is *well*.\n╰\n'])
  assert.deepEqual(stderr.written, [])
})

test('an address chooses the stream', async () => {
  const { send, stdout, stderr } = open()
  await send('Hello', 'stderr')
  assert.equal(stdout.written.length, 0)
  assert.equal(stderr.written.length, 1)
})

test('colours are used only on a terminal that has them', async () => {
  const coloured = open({ isTTY: true, columns: 80, hasColors: () => true })
  await coloured.send('Hello')
  assert.ok(coloured.stdout.written[0]?.includes('\x1b[36m│\x1b[39m Hello'))
  for (const facts of [{ isTTY: true, hasColors: () => false }, { hasColors: () => true }]) {
    const plain = open(facts)
    await plain.send('Hello')
    assert.ok(!plain.stdout.written[0]?.includes('\x1b'))
  }
})

test('lines are wrapped to the terminal and nowhere else', async () => {
  const line = '- one two three four five six seven'
  const terminal = open({ isTTY: true, columns: 24 })
  await terminal.send(line)
  assert.match(terminal.stdout.written[0] ?? '', /│ - one two three four\n│ five six seven\n/)
  const pipe = open({ columns: 24 })
  await pipe.send(line)
  assert.ok(pipe.stdout.written[0]?.includes(line))
})

test('a reply cannot control the terminal or leave its bar', async () => {
  const { send, stdout } = open({ isTTY: true, columns: 80, hasColors: () => false })
  const title = '\x1b]0;owned\x07'
  const link = '\x1b]8;;https://example.org\x1b\\click\x1b]8;;\x1b\\'
  await send(`${title}${link}\x1b[2J\x9b2J\x08\x7f one\rtwo\u2028three\u202eeerht\n╰\nfour`)
  const [shown = ''] = stdout.written
  assert.doesNotMatch(shown, /(?!\n)\p{Cc}|[\u202a-\u202e\u2028]/u)
  assert.ok(shown.includes('␛]0;owned␇'))
  const lines = shown.trimEnd().split('\n')
  assert.ok(lines.slice(1, -1).every((each) => each.startsWith('│')))
})

test('a key cannot control the terminal either', async () => {
  const { channel, stdout } = open()
  await channel.send({ text: 'x' }, { ...callTo(channel), key: '\x1b[2J\n:\x07' })
  assert.doesNotMatch(stdout.written.join(''), /(?!\n)\p{Cc}/u)
})

test('the whole of a long reply is written, in numbered parts', async () => {
  const { send, stdout } = open({ isTTY: true, columns: 80 })
  const lines = Array.from({ length: 9000 }, (_, index) => `line ${index}`)
  await send(lines.join('\n'))
  const shown = stdout.written.join('')
  assert.deepEqual(
    Array.from(shown.matchAll(/│ (line \d+)/g), (found) => found[1]),
    lines,
  )
  assert.ok(stdout.written[1]?.startsWith('╭ reply 1d09aa, part 2\n'))
})

test('a send waits until a slow reader has taken the text', async () => {
  const taking: (() => void)[] = []
  const stdout = new Writable({ write: (_chunk, _encoding, done) => void taking.push(done) })
  const { channel } = createTerminalChannel({ stdout, stderr: createStream() })
  let isSent = false
  const sending = channel.send({ text: 'x' }, callTo(channel)).then(() => {
    isSent = true
  })
  await yieldToEventLoop()
  assert.equal(isSent, false)
  taking[0]?.()
  await sending
  assert.equal(isSent, true)
})

for (const [what, code, retryable] of [
  ['a full disk fails only that reply, which can be retried', 'ENOSPC', true],
  ['a reader that is gone is a permanent error and does not end the process', 'EPIPE', false],
] as const)
  test(what, async () => {
    const error = Object.assign(new Error('It failed.'), { code })
    const stdout = new Writable({ write: (_chunk, _encoding, done) => done(error) })
    const { channel, close } = createTerminalChannel({ stdout, stderr: createStream() })
    const message = retryable ? 'Writing to stdout failed: ENOSPC.' : /./
    await assert.rejects(channel.send({ text: 'x' }, callTo(channel)), {
      code: 'unavailable',
      retryable,
      message,
    })
    await close()
  })

test('close removes its listeners and leaves the streams open', async () => {
  const { close, stdout } = open()
  assert.equal(stdout.listenerCount('error'), 1)
  await close()
  assert.equal(stdout.listenerCount('error'), 0)
  assert.equal(stdout.writable, true)
})
