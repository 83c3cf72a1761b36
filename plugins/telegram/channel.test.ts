import assert from 'node:assert/strict'
import { test } from 'node:test'
import { vendorConformance } from '@reveille/kit/conformance'
import { openBed } from '@reveille/kit/fake-server'
import { createTelegramChannel, type TelegramConfig } from './channel.ts'
import { badRequest, chats, type FakeTelegramOptions, openVendor, visibleText } from './fake-server/index.ts'

vendorConformance({
  name: 'the channel telegram conforms',
  plugin: new URL('./index.ts', import.meta.url),
  open: openVendor,
  visibleText,
  fences: false,
  places: [
    ['123456789', ' 123456789 ', 'telegram:123456789', 'tg:123456789'],
    ['-1001234567890', '-1001234567890:topic:1'],
    ['-1001234567890:topic:7', '-1001234567890:7', 'telegram:group:-1001234567890:topic:7'],
    ['-1001234567890:topic:8'],
    ['@reveille_news', '@Reveille_News', 'telegram:@reveille_news'],
  ],
  badAddresses: [
    ...['0', '-0', '12a', '@1abc', '@ab', 'reveille_news', '123:topic:x', '123:topic:'],
    ...['123:', 'telegram:', 'telegram:telegram:1', '99999999999999999'],
  ],
})

async function open(given: Partial<TelegramConfig> = {}, options?: FakeTelegramOptions) {
  const vendor = await openVendor(options)
  const warnings: unknown[] = []
  const warn = (event: string, facts?: object) => void warnings.push([event, facts])
  const defaults = { format: 'html', linkPreviews: false } as const
  const config = { ...defaults, ...(vendor.config as { botToken: string; baseUrl: string }), ...given }
  const log = { info() {}, error() {}, warn }
  const channel = createTelegramChannel({ config, fetch, log, now: () => 0 })
  const sent = () => vendor.requests.map(({ json }) => json as Record<string, unknown>)
  return { ...openBed(vendor, channel), config, warnings, sent }
}

const longest = 'w'.repeat(40)

/** What a person reads of a reply, and the marks that Telegram made, each with its text. */
for (const [name, markdown, text, entities] of [
  [
    'Markdown becomes the entities that Telegram has for it',
    '# Title\n\n**bold** *oblique* ~~gone~~ `x < y` [page](https://e.org/?a=1&b="2")\n\n```ts\nif (a < b) {}\n```\n\n> said',
    'Title\n\nbold oblique gone x < y page\n\nif (a < b) {}\n\nsaid',
    [
      { type: 'bold', of: 'Title' },
      { type: 'bold', of: 'bold' },
      { type: 'italic', of: 'oblique' },
      { type: 'strikethrough', of: 'gone' },
      { type: 'code', of: 'x < y' },
      { type: 'text_link', url: 'https://e.org/?a=1&b=%222%22', of: 'page' },
      { type: 'pre', language: 'ts', of: 'if (a < b) {}' },
      { type: 'blockquote', of: 'said' },
    ],
  ],
  [
    'lists are bullets that are indented, and code in them keeps its own spaces',
    '1. one\n   - deeper\n     - deepest\n2. two\n\n   ```\n   a\n     b\n   ```\n\n- [x] done\n- [ ] open',
    '1. one\n   ◦ deeper\n      ▪ deepest\n2. two\na\n  b\n\n☑ done\n☐ open',
    [{ type: 'pre', of: 'a\n  b' }],
  ],
  [
    'a table that fits a phone is aligned and shows its addresses',
    '| PR | Link |\n|---|---|\n| @ada | [x](https://a.example/1) |',
    'PR   | Link\n-----|------------------------\n@ada | x (https://a.example/1)',
    [{ type: 'pre', of: 'PR   | Link\n-----|------------------------\n@ada | x (https://a.example/1)' }],
  ],
  [
    'a wider table becomes a list with links',
    `| PR | Link |\n|---|---|\n| 1 | [${longest}](https://a.example/1) |`,
    `PR: 1\n\n• Link: ${longest}`,
    [
      { type: 'bold', of: 'PR: 1' },
      { type: 'text_link', url: 'https://a.example/1', of: longest },
    ],
  ],
  [
    'a block in a list begins at the start of a line',
    '- one\n  > said\n  > more\n- ```\n  a\n  ```\n- > > deep',
    '• one\n\nsaid\nmore\n\n•\na\n\n•\n> deep',
    [
      { type: 'blockquote', of: 'said\nmore' },
      { type: 'pre', of: 'a' },
      { type: 'blockquote', of: '> deep' },
    ],
  ],
  [
    'a link that Telegram would drop shows its address',
    '[here](http://localhost:8080/x) and [mail](mailto:ada@example.org)',
    'here (http://localhost:8080/x) and mail (ada@example.org)',
    [{ type: 'url', of: 'http://localhost:8080/x' }],
  ],
  [
    'names mention no one, and addresses that hold an @ stay whole',
    '@ada ada@example.org https://e.org/@ada `@ada` tg://user?id=1',
    '@\u2060ada ada@example.org https://e.org/@ada @ada tg:\u2060//user?id=1',
    [
      { type: 'text_link', url: 'https://e.org/@ada', of: 'https://e.org/@ada' },
      { type: 'code', of: '@ada' },
    ],
  ],
  [
    'a letter keeps the combining ring that Telegram would remove',
    'A\u030angstro\u0308m',
    '\u00c5ngstro\u0308m',
    [],
  ],
] as const)
  test(name, async () => {
    await using bed = await open()
    await bed.send(markdown)
    const [message] = bed.vendor.messages
    assert.ok(message !== undefined && bed.warnings.length === 0)
    const marks = message['entities'] as { type: string; offset: number; length: number }[]
    const shown = marks.map(({ offset, length, ...rest }) => {
      return { ...rest, of: message.text.slice(offset, offset + length) }
    })
    assert.deepEqual([message.text, shown], [text, entities])
  })

test('neither the HTML nor its visible text exceeds 4096 characters, whatever has to be escaped', async () => {
  await using bed = await open()
  await bed.send(`\`\`\`html\n${'<p class="a">&amp;</p>\n'.repeat(600)}\`\`\``)
  assert.ok(bed.vendor.messages.length > 1)
  for (const { text } of bed.sent()) assert.ok(String(text).length <= 4096)
})

test('no link is lost because a message has more entities than Telegram keeps', async () => {
  await using bed = await open()
  const links = Array.from({ length: 250 }, (_, index) => `https://example.org/${index}`)
  await bed.send(links.map((link, index) => `[${index}](${link})`).join(' '))
  const entities = bed.vendor.messages.flatMap((message) => message['entities'] as { url: string }[])
  const urls = entities.map(({ url }) => url)
  assert.deepEqual(urls, links)
})

test('markup that Telegram cannot parse is sent again as plain text without mentions', async () => {
  await using bed = await open()
  const answer = badRequest('can\'t parse entities: Unsupported start tag "x"')
  bed.vendor.script({ kind: 'answer', answer })
  await bed.send('**Hello** `@ada`')
  assert.deepEqual([bed.texts(), bed.vendor.pings], [['Hello @\u2060ada'], []])
  assert.deepEqual(bed.warnings, [['telegram-markup-refused', { key: 'd:1', sentAs: 'plain text' }]])
})

test('a group that became a supergroup is written to at its new number, and a warning is logged once', async () => {
  await using bed = await open()
  for (const text of ['One', 'Two']) await bed.send(text, String(chats.moved))
  const recipients = bed.vendor.messages.map(({ to }) => Number(to))
  assert.deepEqual(recipients, [chats.movedTo, chats.movedTo])
  assert.equal(bed.vendor.requests.length, 3)
  const facts = { chat: chats.moved, movedTo: chats.movedTo, hint: `Write to ${chats.movedTo} instead.` }
  assert.deepEqual(bed.warnings, [['telegram-group-moved', facts]])
})

test("each refusal says whether and when to try again, and names the operator's fix", async () => {
  await using bed = await open()
  const { body = '' } = bed.vendor.refusals.rateLimited(31)
  await bed.assertMeanings([
    [
      String(chats.blocked),
      'forbidden',
      /^Telegram answers 403: Forbidden: bot was blocked by the user\. This person has to unblock the bot\.$/,
    ],
    [String(chats.strange), 'window-closed'],
    [String(chats.kicked), 'forbidden'],
    ['-1001234567890:topic:99', 'bad-target'],
    ['@nobody_there', 'bad-target'],
    [{ status: 429, body }, 'rate-limited retryable after 31 s'],
  ])
  const asked = bed.vendor.requests.length
  await bed.assertMeanings([[badRequest("can't parse entities: whatever"), 'bad-request']])
  assert.equal(bed.vendor.requests.length, asked + 2, 'plain text is refused as well')
})

test('links have no previews, unless the operator wants them', async () => {
  for (const linkPreviews of [false, true]) {
    await using bed = await open({ linkPreviews })
    await bed.send('https://example.org/')
    assert.equal(bed.vendor.messages[0]?.['hasPreview'], linkPreviews)
  }
})

const callsInPieces = [
  ...['@\u202aada_l', '@\u0333ada_l and @a\u202bda_l', '@**ada_l**, @<b>ada</b>_l, **@**ada_l'],
  ...['t\u202ag://user?id=1', 'tg:**//user?id=1**', 'tg**:**//user?id=1', 't**g**://user?id=1'],
  ...['tg:/**/user?id=1**', '*tg*<b>:/</b>/user?id=1'],
]

for (const format of ['html', 'plain'] as const)
  test(`no mention arises when Telegram, or removing marks, joins texts: ${format}`, async () => {
    for (const text of callsInPieces) {
      await using bed = await open({ format })
      await bed.send(text)
      assert.deepEqual(bed.vendor.pings, [], JSON.stringify(text))
      const entities = bed.vendor.messages.flatMap((message) => message['entities'] as { type: string }[])
      assert.ok(!entities.some(({ type }) => type === 'url'), JSON.stringify(text))
    }
  })

test('the format `plain` sends text without markup and without mentions', async () => {
  await using bed = await open({ format: 'plain' })
  await bed.send('# Title\n\n**bold** <b>x</b> `@ada` @ada')
  const [request] = bed.sent()
  assert.equal(request?.['parse_mode'], undefined)
  assert.match(String(request?.['text']), /^Title/)
  assert.deepEqual(bed.vendor.pings, [])
})

const table = '| a | b |\n|---|---|\n| 1 | 2 |'

test('the format `rich` sends Markdown in one message where HTML would take many', async () => {
  await using bed = await open({ format: 'rich' })
  await bed.send(`## Title\n\n${table}\n\n${'A paragraph that says a little.\n\n'.repeat(500)}`)
  assert.deepEqual([bed.vendor.messages.length, bed.vendor.messages[0]?.['isRich']], [1, true])
  assert.match(bed.vendor.messages[0]?.text ?? '', /^## Title/)
})

test('rich messages are sent as HTML from then on if the server does not know them', async () => {
  await using bed = await open({ format: 'rich' }, { rich: false })
  await bed.send(`## Title\n\n${table}`)
  await bed.send('Two')
  const methods = bed.vendor.requests.map(({ path }) => path.replace(/^.*\//, ''))
  assert.deepEqual(methods, ['sendRichMessage', 'sendMessage', 'sendMessage'])
  assert.equal(bed.vendor.messages[1]?.text, 'Two')
  assert.equal(bed.warnings.length, 1)
})

test('a wrong token is not mistaken for a server without rich messages', async () => {
  await using bed = await open({ format: 'rich', botToken: 'malformed' }, { rich: false })
  assert.equal((await bed.failure()).code, 'bad-credential')
  assert.equal(bed.warnings.length, 0)
})

test('a long rich part that fails halfway as HTML continues after the messages that were sent', async () => {
  await using bed = await open({ format: 'rich' }, { rich: false })
  const paragraphs = Array.from({ length: 400 }, (_, index) => `Paragraph ${index} says a little.`)
  const [part] = bed.channel.render(paragraphs.join('\n\n'))
  assert.ok(part !== undefined)
  const call = { target: bed.channel.target(bed.vendor.to), key: 'd:1', signal: new AbortController().signal }
  let left = 2
  const failing = createTelegramChannel({
    config: bed.config,
    fetch: async (url, init) => {
      if (String(url).endsWith('/sendMessage') && left-- === 0)
        bed.vendor.script({ kind: 'answer', answer: bed.vendor.refusals.rateLimited(3) })
      return fetch(url, init)
    },
    log: { info() {}, warn() {}, error() {} },
    now: () => 0,
  })
  await assert.rejects(failing.send(part, call), { code: 'rate-limited' })
  assert.equal(bed.vendor.messages.length, 2)
  const { id } = await failing.send(part, call)
  const texts = bed.texts()
  assert.equal(new Set(texts).size, texts.length, 'nothing is sent twice')
  assert.deepEqual(texts.join('\n\n').split('\n\n'), paragraphs, 'nothing is lost')
  assert.deepEqual(id.split(',').length, texts.length)
})

test('a check names the bot that the token belongs to', async () => {
  await using bed = await open()
  assert.deepEqual(await bed.channel.check?.(new AbortController().signal), {
    ok: true,
    detail: 'Telegram knows the bot as @reveille_fake_bot.',
  })
})
