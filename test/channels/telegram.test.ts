import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { Api, GrammyError } from 'grammy'
import { createTelegramChannel, type TelegramConfig } from '../../plugins/telegram/channel.ts'
import { chats, openVendor } from '../../plugins/telegram/fake-server/index.ts'
import { parseHtml } from '../../plugins/telegram/fake-server/markup.ts'
import { rendererOf } from '../../plugins/telegram/render.ts'

/** Checks the fake server with Telegram's most used client, grammY. */
async function open() {
  const vendor = await openVendor()
  const { botToken, baseUrl } = vendor.config as { botToken: string; baseUrl: string }
  const config: TelegramConfig = { botToken, baseUrl, format: 'html', linkPreviews: false }
  const log = { info() {}, warn() {}, error() {} }
  return {
    vendor,
    api: new Api(botToken, { apiRoot: vendor.url }),
    other: new Api(`${botToken.slice(0, -1)}9`, { apiRoot: vendor.url }),
    channel: createTelegramChannel({ config, fetch, log, now: Date.now }),
    [Symbol.asyncDispose]: () => vendor.close(),
  }
}

async function refusalOf(call: Promise<unknown>) {
  const error = await call.catch((reason: unknown) => reason)
  assert.ok(error instanceof GrammyError, String(error))
  const { error_code, description, parameters } = error
  return { error_code, description, parameters }
}

test("the fake server knows grammY's bot, stores its message and answers it", async () => {
  await using bed = await open()
  assert.equal((await bed.api.getMe()).username, 'reveille_fake_bot')
  const message = await bed.api.sendMessage(chats.forum, '<b>Hello</b> <i>Ada</i>', {
    parse_mode: 'HTML',
    message_thread_id: 7,
  })
  assert.deepEqual(message.entities, [
    { type: 'bold', offset: 0, length: 5 },
    { type: 'italic', offset: 6, length: 3 },
  ])
  assert.deepEqual(
    bed.vendor.messages.map(({ to, text, thread }) => [to, text, thread]),
    [[String(chats.forum), 'Hello Ada', 7]],
  )
  assert.deepEqual([message.text, message.chat.id, message.message_thread_id], ['Hello Ada', chats.forum, 7])
})

test("the fake server's refusals are refusals to grammY, with their parameters", async () => {
  await using bed = await open()
  const { api, other, vendor } = bed
  assert.deepEqual(await refusalOf(api.sendMessage(987654321, 'x')), {
    error_code: 400,
    description: 'Bad Request: chat not found',
    parameters: {},
  })
  assert.equal(
    (await refusalOf(api.sendMessage(chats.person, '<p>x</p>', { parse_mode: 'HTML' }))).error_code,
    400,
  )
  assert.equal((await refusalOf(api.sendMessage(chats.blocked, 'x'))).error_code, 403)
  assert.equal((await refusalOf(other.getMe())).error_code, 401)
  assert.deepEqual((await refusalOf(api.sendMessage(chats.moved, 'x'))).parameters, {
    migrate_to_chat_id: chats.movedTo,
  })
  vendor.script({ kind: 'answer', answer: vendor.refusals.rateLimited(5) })
  const limited = await refusalOf(api.sendMessage(chats.person, 'x'))
  assert.deepEqual([limited.error_code, limited.parameters], [429, { retry_after: 5 }])
  assert.deepEqual(vendor.messages, [])
})

test('the channel sends the same request as grammY for the same message', async () => {
  await using bed = await open()
  const { api, channel, vendor } = bed
  const [part] = channel.render('A **bold** word & a [page](https://example.org/).')
  assert.ok(part !== undefined)
  const target = channel.target(`${chats.forum}:topic:7`)
  const receipt = await channel.send(part, { target, key: 'd:1', signal: new AbortController().signal })
  const html = 'A <b>bold</b> word &amp; a <a href="https://example.org/">page</a>.'
  const message = await api.sendMessage(chats.forum, html, {
    parse_mode: 'HTML',
    message_thread_id: 7,
    link_preview_options: { is_disabled: true },
  })
  const [ours, theirs] = vendor.requests.map(({ method, path, json }) => ({ method, path, json }))
  assert.deepEqual(ours, theirs)
  assert.equal(Number(receipt.id) + 1, message.message_id)
  const [first, second] = vendor.messages.map(({ message_id, ...rest }) => rest)
  assert.deepEqual(first, second)
})

/** Pieces of text that are markup for one side or the other, or come in between. */
const scrap = fc.constantFrom(
  ...[
    '**',
    '*',
    '_',
    '~~',
    '`',
    '```\n',
    '\n',
    '\n\n',
    '> ',
    '- ',
    '1. ',
    '# ',
    '| a | b |\n|---|---|\n',
    '|',
    '   ',
  ],
  ...[
    '<',
    '>',
    '&',
    '"',
    '<b>',
    '</b>',
    '<a href="x">',
    '</a>',
    '&lt;',
    '&amp;amp;',
    '&#60;',
    '<pre>',
    '</blockquote>',
  ],
  ...[
    '[x](',
    ')',
    '![',
    'https://example.org/?a=1&b="',
    '@ada',
    'tg://user?id=1',
    'word ',
    '👩🏽‍🚀',
    'שלום',
    '漢字',
    '\\',
  ],
)

test('Telegram can parse any text of an agent, and reads the same as the plain text', () => {
  const reply = fc.array(scrap, { maxLength: 120 }).map((scraps) => scraps.join(''))
  const render = rendererOf('html')
  fc.assert(
    fc.property(reply, (markdown) => {
      for (const { text, html = '' } of render(markdown)) {
        assert.equal(parseHtml(html).text, text)
        assert.ok(html.length <= 4096 && text.length <= 4000)
      }
    }),
    { seed: 20261121, numRuns: 300 },
  )
})
