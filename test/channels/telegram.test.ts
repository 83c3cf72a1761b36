import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openBed } from '@reveille/kit/fake-server'
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
    ...openBed(vendor, createTelegramChannel({ config, fetch, log, now: Date.now })),
    api: new Api(botToken, { apiRoot: vendor.url }),
    other: new Api(`${botToken.slice(0, -1)}9`, { apiRoot: vendor.url }),
  }
}

test("the fake server knows grammY's bot, and gets the same request from the channel for the same message", async () => {
  await using bed = await open()
  const { api, vendor } = bed
  assert.equal((await api.getMe()).username, 'reveille_fake_bot')
  const [receipt] = await bed.send(
    'A **bold** word & a [page](https://example.org/).',
    `${chats.forum}:topic:7`,
  )
  const html = 'A <b>bold</b> word &amp; a <a href="https://example.org/">page</a>.'
  const message = await api.sendMessage(chats.forum, html, {
    parse_mode: 'HTML',
    message_thread_id: 7,
    link_preview_options: { is_disabled: true },
  })
  const [ours, theirs] = vendor.requests.slice(1).map(({ method, path, json }) => ({ method, path, json }))
  assert.deepEqual(ours, theirs)
  assert.equal(Number(receipt?.id) + 1, message.message_id)
  const [first, second] = vendor.messages.map(({ message_id, ...rest }) => rest)
  assert.deepEqual(first, second)
  assert.deepEqual([second?.to, second?.text, second?.['thread']], [String(chats.forum), message.text, 7])
  assert.deepEqual(
    [message.text, message.chat.id, message.message_thread_id],
    ['A bold word & a page.', chats.forum, 7],
  )
  assert.deepEqual(message.entities?.[0], { type: 'bold', offset: 2, length: 4 })
})

test("the fake server's refusals are refusals to grammY, with their parameters", async () => {
  await using bed = await open()
  const { api, other, vendor } = bed
  const limited = () => {
    vendor.script({ kind: 'answer', answer: vendor.refusals.rateLimited(5) })
    return api.sendMessage(chats.person, 'x')
  }
  for (const [call, code, parameters] of [
    [() => api.sendMessage(987654321, 'x'), 400, {}],
    [() => api.sendMessage(chats.person, '<p>x</p>', { parse_mode: 'HTML' }), 400, {}],
    [() => api.sendMessage(chats.blocked, 'x'), 403, {}],
    [() => other.getMe(), 401, {}],
    [() => api.sendMessage(chats.moved, 'x'), 400, { migrate_to_chat_id: chats.movedTo }],
    [limited, 429, { retry_after: 5 }],
  ] as const) {
    const error = await call().then(
      () => assert.fail(`${call} is refused`),
      (reason: unknown) => reason,
    )
    assert.ok(error instanceof GrammyError, String(error))
    assert.deepEqual([error.error_code, error.parameters], [code, parameters], `${call}`)
  }
  assert.deepEqual(vendor.messages, [])
})

/** Pieces of text that are markup for one side or the other, or come in between. */
const scrap = fc.constantFrom(
  ...'** * _ ~~ ` | ) ![ [x]( \\ < > & " <b> </b> </a> &lt; &amp;amp; &#60; <pre> </blockquote>'.split(' '),
  ...[
    '```\n',
    '\n',
    '\n\n',
    '> ',
    '- ',
    '1. ',
    '# ',
    '| a | b |\n|---|---|\n',
    '   ',
    'word ',
    '👩🏽‍🚀',
    'שלום',
    '漢字',
  ],
  ...['https://example.org/?a=1&b="', '@ada', 'tg://user?id=1', '<a href="x">'],
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
